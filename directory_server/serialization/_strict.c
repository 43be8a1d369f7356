/* Strict JSON, compiled: the documents that need no closer look. `_json.py` checks all others in Python. */

#include "compiled.h"

/* Levels of nesting, and names of members in all open objects, above which Python checks the document. */
#define MAX_LEVELS 16
#define MAX_NAMES 64

typedef struct {
    const char *at;
    Py_ssize_t size;
} Name;

/* The names of the open objects. `first` has the place of the first name of each level. */
typedef struct {
    Name names[MAX_NAMES];
    int first[MAX_LEVELS + 1];
    int count, level;
} Open;

static int add_name(Open *open, const char *at, Py_ssize_t size) {
    for (int i = open->first[open->level]; i < open->count; i++)
        if (open->names[i].size == size && memcmp(open->names[i].at, at, (size_t)size) == 0)
            return 0;
    if (open->count == MAX_NAMES)
        return 0;
    open->names[open->count++] = (Name){at, size};
    return 1;
}

/* Return the end of a string, whose quote is before `at`; NULL if it has an escape sequence. */
static const char *string_end(const char *at, const char *end) {
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at < end && *at == '"' ? at : NULL;
}

static int is_name(const char *after, const char *end) {
    while (after < end && (*after == ' ' || *after == '\t' || *after == '\n' || *after == '\r'))
        after++;
    return after < end && *after == ':';
}

static int check(const char *at, const char *end) {
    Open open = {.count = 0, .level = 0};
    open.first[0] = 0;
    for (; at < end; at++) {
        if (*at == '{' || *at == '[') {
            if (open.level == MAX_LEVELS)
                return 0;
            open.first[++open.level] = open.count;
        } else if (*at == '}' || *at == ']') {
            if (open.level == 0)
                return 0;
            open.count = open.first[open.level--];
        } else if (*at == '"') {
            const char *start = at + 1;
            at = string_end(start, end);
            if (at == NULL || (is_name(at + 1, end) && !add_name(&open, start, at - start)))
                return 0;
        }
    }
    return 1;
}

/* is_plain(body): whether valid JSON has no duplicate members, no escape sequences and few levels. False also means that
 * this is not known.
 */
static PyObject *is_plain(PyObject *module, PyObject *body) {
    char *start;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(body, &start, &size) < 0)
        return NULL;
    return PyBool_FromLong(check(start, start + size));
}

MODULE(_strict, 1, "Checks of strict JSON, compiled.",
    {"is_plain", is_plain, METH_O, "Whether valid JSON has no duplicate members, no escape sequences and few levels."})
