/* What all compiled modules share: the API that they use, the definition of a module, and the release of buffers.
 *
 * Only the limited API is used, so that one build serves Python 3.11 and later. Include this file before all others.
 */

#ifndef DIRECTORY_SERVER_COMPILED_H
#define DIRECTORY_SERVER_COMPILED_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void release_buffers(Py_buffer *const buffers[], size_t count) {
    for (size_t i = 0; i < count; i++)
        PyBuffer_Release(buffers[i]);
}

/* Release the buffers at these addresses. Those that hold no object are left out. */
#define RELEASE_BUFFERS(...)                                                                                           \
    release_buffers((Py_buffer *const[]){__VA_ARGS__}, sizeof((Py_buffer *const[]){__VA_ARGS__}) / sizeof(Py_buffer *))

/* Define the module `name` with these methods. The code in Python expects the same version of its functions. */
#define MODULE(name, version, doc, ...)                                                                                \
    static PyMethodDef name##_methods[] = {__VA_ARGS__, {NULL, NULL, 0, NULL}};                                        \
    static struct PyModuleDef name##_definition = {                                                                    \
        PyModuleDef_HEAD_INIT, #name, doc, -1, name##_methods, NULL, NULL, NULL, NULL,                                 \
    };                                                                                                                 \
    PyMODINIT_FUNC PyInit_##name(void) {                                                                               \
        PyObject *module = PyModule_Create(&name##_definition);                                                        \
        if (module != NULL && PyModule_AddIntConstant(module, "VERSION", version) < 0)                                 \
            Py_CLEAR(module);                                                                                          \
        return module;                                                                                                 \
    }

#endif
