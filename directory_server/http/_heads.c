/* Requests of the usual form, compiled: one read of the whole request instead of a callback for each field. `_parser.py`
 * gives all other bytes to llhttp, which reads these requests as well, with the same result.
 */

#include "compiled.h"

/* Bytes of a head, and fields, above which llhttp reads the request. They are below the limits of `_parser.py`. */
#define MAX_HEAD 4096
#define MAX_FIELDS 32

/* Digits of Content-Length. */
#define MAX_DIGITS 4

/* Bytes of a field name. */
#define MAX_NAME 64

/* Return a byte of a field name in lower case; 0 if it is not usual. */
static char lowered(char byte) {
    if (byte >= 'A' && byte <= 'Z')
        return (char)(byte + 'a' - 'A');
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' ? byte : 0;
}

static int in_target(char byte) { return lowered(byte) || (byte != 0 && strchr("/?%&=+._~:,", byte) != NULL); }

/* A part of the request that is still to be read. */
typedef struct {
    const char *at, *end;
} Bytes;

static int skip(Bytes *from, const char *text, Py_ssize_t size) {
    if (from->end - from->at < size || memcmp(from->at, text, (size_t)size) != 0)
        return 0;
    from->at += size;
    return 1;
}

#define SKIP(from, text) skip(from, text, sizeof(text) - 1)

static int is(const char *name, Py_ssize_t size, const char *other) {
    return (size_t)size == strlen(other) && memcmp(name, other, (size_t)size) == 0;
}

/* Whether a field changes how the request is framed or answered. llhttp reads such requests. HTTP/1.1 keeps connections
 * without "Connection: keep-alive", which many clients send.
 */
static int is_special(const char *name, Py_ssize_t size, const char *value, Py_ssize_t value_size) {
    switch (size) {
    case 6:
        return is(name, size, "expect");
    case 7:
        return is(name, size, "upgrade");
    case 10:
        return is(name, size, "connection") && !is(value, value_size, "keep-alive");
    case 16:
        return is(name, size, "proxy-connection");
    case 17:
        return is(name, size, "transfer-encoding");
    default:
        return 0;
    }
}

/* Return the number in a value of at most MAX_DIGITS digits; -1 if it is none. */
static Py_ssize_t number(const char *value, Py_ssize_t size) {
    Py_ssize_t result = 0;
    if (size > MAX_DIGITS)
        return -1;
    for (Py_ssize_t i = 0; i < size; i++) {
        if (value[i] < '0' || value[i] > '9')
            return -1;
        result = 10 * result + value[i] - '0';
    }
    return result;
}

/* Add a value to the list of its name. Returns -1 with an error set. */
static int add(PyObject *fields, const char *name, Py_ssize_t name_size, const char *value, Py_ssize_t size) {
    int result = -1;
    PyObject *key = PyBytes_FromStringAndSize(name, name_size), *text = PyBytes_FromStringAndSize(value, size);
    if (key != NULL && text != NULL) {
        PyObject *known = PyDict_GetItemWithError(fields, key);
        if (known != NULL) {
            result = PyList_Append(known, text);
        } else if (!PyErr_Occurred() && (known = PyList_New(1)) != NULL) {
            Py_INCREF(text);
            PyList_SetItem(known, 0, text);
            result = PyDict_SetItem(fields, key, known);
            Py_DECREF(known);
        }
    }
    Py_XDECREF(key);
    Py_XDECREF(text);
    return result;
}

/* Read a field line. Returns 1 if it is usual, 0 if not, -1 with an error set. `length` is that of the body. */
static int read_field(Bytes *from, PyObject *fields, Py_ssize_t *length) {
    char name[MAX_NAME];
    Py_ssize_t size = 0;
    for (char byte; from->at < from->end && size < MAX_NAME && (byte = lowered(*from->at)); from->at++)
        name[size++] = byte;
    if (size == 0 || !SKIP(from, ": "))
        return 0;
    const char *value = from->at;
    while (from->at < from->end && *from->at >= ' ' && *from->at <= '~')
        from->at++;
    Py_ssize_t value_size = from->at - value;
    if (value_size == 0 || value[0] == ' ' || from->at[-1] == ' ' || !SKIP(from, "\r\n"))
        return 0;
    if (is_special(name, size, value, value_size))
        return 0;
    if (is(name, size, "content-length")) {
        if (*length >= 0 || (*length = number(value, value_size)) < 0)
            return 0;
    }
    return add(fields, name, size, value, value_size) < 0 ? -1 : 1;
}

/* Read the request line. Returns whether it is usual. */
static int read_line(Bytes *from, Bytes *method, Bytes *target) {
    method->at = from->at;
    if (!SKIP(from, "GET") && !SKIP(from, "POST"))
        return 0;
    method->end = from->at;
    if (!SKIP(from, " /"))
        return 0;
    target->at = from->at - 1;
    while (from->at < from->end && in_target(*from->at))
        from->at++;
    target->end = from->at;
    return SKIP(from, " HTTP/1.1\r\n");
}

static PyObject *bytes_of(const Bytes *part) { return PyBytes_FromStringAndSize(part->at, part->end - part->at); }

/* read(data): method, target, fields and body of a request of the usual form; None for other bytes. */
static PyObject *read_request(PyObject *module, PyObject *data) {
    char *start;
    Py_ssize_t size, length = -1;
    Bytes method, target;
    if (PyBytes_AsStringAndSize(data, &start, &size) < 0)
        return NULL;
    Bytes from = {start, start + (size < MAX_HEAD ? size : MAX_HEAD)};
    if (!read_line(&from, &method, &target))
        Py_RETURN_NONE;
    PyObject *fields = PyDict_New();
    if (fields == NULL)
        return NULL;
    int usual = 1;
    for (int count = 0; usual == 1 && !SKIP(&from, "\r\n"); count++)
        usual = count < MAX_FIELDS ? read_field(&from, fields, &length) : 0;
    Bytes body = {from.at, start + size};
    if (usual == 1 && body.end - body.at == (length < 0 ? 0 : length)) {
        PyObject *result = PyTuple_New(4);
        PyObject *parts[] = {bytes_of(&method), bytes_of(&target), fields, bytes_of(&body)};
        for (int i = 0; i < 4; i++) {
            if (result == NULL || parts[i] == NULL) {
                usual = -1;
                Py_XDECREF(parts[i]);
            } else {
                PyTuple_SetItem(result, i, parts[i]);
            }
        }
        if (usual == 1)
            return result;
        Py_XDECREF(result);
        return NULL;
    }
    Py_DECREF(fields);
    if (usual < 0)
        return NULL;
    Py_RETURN_NONE;
}

MODULE(_heads, 1, "Requests of the usual form, compiled.",
    {"read", read_request, METH_O, "Return method, target, fields and body of a request of the usual form, or None."})
