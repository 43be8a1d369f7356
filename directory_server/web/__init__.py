"""HTTP APIs and pages of the directory: routing, authentication, error responses and handlers."""
