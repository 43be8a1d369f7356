{{- define "directory.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "directory.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "directory.labels" -}}
{{ include "directory.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "directory.host" -}}
{{ (urlParse .Values.url).hostname }}
{{- end -}}

{{- define "directory.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - configMapRef: {name: {{ include "directory.name" . }}}
env:
  - {name: DATABASE_PASSWORD_FILE, value: {{ printf "/run/secrets/directory/%s" .Values.database.passwordKey }}}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: password, mountPath: /run/secrets/directory, readOnly: true}
  - {name: index, mountPath: /var/lib/directory-server}
  - {name: temporary, mountPath: /tmp}
  {{- if .Values.config }}
  - {name: config, mountPath: /etc/directory-server, readOnly: true}
  {{- end }}
  {{- range .Values.secrets }}
  - {name: {{ printf "secret-%s" . }}, mountPath: {{ printf "/run/secrets/%s" . }}, readOnly: true}
  {{- end }}
{{- end -}}
