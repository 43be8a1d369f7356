/* The compiled part of the search: the structures and functions that its files share.
 *
 * `segments.c` reads the columns of segments, `plan.c` those of a plan, and `state.c` has the memory of a search.
 * `documents.c` collects the evidence of a plan, `scores.c` adds it up and selects the best documents, `feedback.c` and
 * `focus.c` raise scores. `strings.c` looks up strings and `edits.c` misspelt ones. `module.c` has the functions for
 * Python, and checks their arguments.
 *
 * `search/ranking/` and `search/index/` have the same in Python and numpy, which defines the results.
 */

#ifndef ENGINE_H
#define ENGINE_H

/* Only the limited API is used, so that one build serves Python 3.11 and later. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IMPACT_SCALE (1.0f / 32768.0f)
#define MAX_DOCUMENTS INT32_MAX
#define MAX_TERMS 64 /* Terms of a document in `top_terms`. */
#define MAX_HITS 16  /* First hits whose terms are compared. */

/* What a function returns if it fails. With FAILED an error is set. */
enum { FAILED = -1, NO_MEMORY = -2, OUT_OF_RANGE = -3, COLUMNS_DIFFER = -4, NOT_WITHIN = -5 };

/* `count` items of one type, with room for `capacity`. */
typedef struct {
    void *items;
    size_t count, capacity;
} Vector;

#define ITEM(vector, type, number) ((type *)(vector).items)[number]

/* A new item at the end of a vector, which is not initialized; NULL without memory. */
#define PUSH(vector, type)                                                                                             \
    ((vector)->count < (vector)->capacity || reserve(vector, (vector)->count + 64, sizeof(type)) == 0                  \
         ? &ITEM(*(vector), type, (vector)->count++)                                                                   \
         : NULL)

/* Sorted strings: string n is the bytes from at[n] to at[n + 1] of data. */
typedef struct {
    const char *data;
    const uint32_t *at;
    Py_ssize_t count, size;
} Strings;

#define COLUMNS 11

/* The columns of a segment: see `Segment` and `Rows` in Python. */
typedef struct {
    Py_buffer columns[COLUMNS];
    const uint32_t *starts;
    const int32_t *doc_ids, *known, *top_terms;
    const uint16_t *impacts, *top_impacts, *described;
    const char *live;
    const float *priors;
    const uint64_t *facts;
    const int64_t *top_starts;
    Py_ssize_t rows, postings, documents, terms, tops;
    _Atomic(double) *lengths; /* Sums of the inverse document frequencies of descriptions; 0 for those not computed yet. */
} Segment;

typedef struct {
    Segment *items;
    Py_ssize_t count;
    Py_ssize_t most;  /* Documents of the largest segment. */
    Py_ssize_t total; /* Documents of all segments, deleted ones included. */
    _Atomic(uint64_t) *frequencies; /* The number of a term, from 1 on, and 32 bits of its frequency; or 0. */
    Py_buffer data, offsets; /* Of the strings. */
    Strings strings;         /* Those of the first terms: later ones are elsewhere. */
} Segments;

/* The postings of one term. */
typedef struct {
    const int32_t *ids;
    const uint16_t *impacts;
    size_t count;
} Span;

/* The items of a plan are read from arrays of numpy, whose types are in `ranking/compiled.py`. */
typedef struct {
    double idf;
    int32_t first, count; /* Terms. */
    int32_t all;          /* Whether a document must have all of them. */
} Group;

typedef struct {
    int32_t first, count; /* Groups. */
    float context;
} Concept;

typedef struct {
    int32_t concept;
    float weight;
} Share;

typedef struct {
    int32_t first, count; /* Groups. */
    int32_t first_share, shares;
    int32_t alternatives;
    float limit, share; /* The score that covers the part, and the share of the query for each unit of it. */
} Part;

typedef struct {
    uint64_t full, partial, contrary;
    float reward, partial_reward, penalty;
} Condition;

#define PLAN_COLUMNS 7

typedef struct {
    Py_buffer columns[PLAN_COLUMNS];
    const int64_t *terms;
    const double *weights;
    const Group *groups;
    const Concept *concepts;
    const Part *parts;
    const Share *shares;
    const Condition *conditions;
    Py_ssize_t term_count, group_count, concept_count, part_count, condition_count;
    Py_ssize_t others, exact, names; /* The first of these groups: others, then exact and other name matches. */
    float prior_share, most_raised, least_kept, least_factor;
} Plan;

/* How a query is expanded by what the first hits have in common: see the constants of `feedback.py`. */
typedef struct {
    Py_ssize_t hits, min_hits, min_frequency, terms, best, min_matches, min_letters;
    double share;
    PyObject *string; /* Returns the string of a number that is not in the table of the segments. */
} Feedback;

/* A document that matches. Two of them are in a line of the cache: a common word has many documents. */
typedef struct {
    int32_t id;
    uint16_t group_mark, part_mark; /* The last group and part that the document has. */
    uint32_t flags;
    float group; /* The best score of this group; with FED, the score of feedback. */
    float part, matched, covered, whole;
} Doc;

enum { MATCHED = 1, WHOLE = 2, FED = 4 };

#define DEAD (-1.0f) /* The score of a document that is not live, or that has no evidence. Scores are 0 or more. */

typedef struct {
    int32_t id;
    float score;
} Posting;

/* The documents of a segment that match, their scores, and the slots of those with a name that matches. */
typedef struct {
    Vector docs, scores, named;
} Matches;

#define SCORES(matches) ((float *)(matches)->scores.items)

typedef struct {
    float score;
    int32_t id;
    Py_ssize_t segment;
} Hit;

/* Where a document is among the matches. `stamp` says whether that is of the present segment. */
typedef struct {
    uint32_t stamp, slot;
} Cell;

/* A term of the first hits, or of the query; no hits for a place of a table without a term. */
typedef struct {
    int32_t term, hits;
    double weight;
} Shared;

/* What a search needs. The next one uses its memory again. */
typedef struct {
    const Segments *segments;
    Plan plan;
    PyThreadState *thread; /* NULL while this thread has the interpreter lock. */
    Vector *docs;          /* The documents that are collected, of a segment with so many: */
    Py_ssize_t documents;
    Cell *cells; /* One for each document. */
    size_t cell_count;
    uint32_t stamp;
    uint16_t group_mark, part_mark;
    int status;
    float floor; /* At least `above` documents have this score or a greater one. */
    size_t above;
    Vector group_slots, part_slots;
    Vector matches;  /* Of each segment. */
    Vector concepts; /* A vector of postings for each concept and segment. */
    Vector items;    /* Scores to select from, or documents with terms of feedback. */
    Vector hits;
    Vector table;    /* Terms by their hash. */
    Vector feedback; /* Terms. */
    Vector sums;     /* Of feedback, for each document; all are 0 between two searches. */
} State;

#define MATCHES(state, number) (&ITEM((state)->matches, Matches, number))

/* segments.c */
PyObject *read_segments(PyObject *module, PyObject *args);
Segments *segments_of(PyObject *capsule);
size_t place_among(const int32_t *numbers, size_t count, int32_t wanted);
int span_of(const Segment *segment, int64_t term, Span *span);
Py_ssize_t count_documents(const Segments *segments, int64_t term);
Py_ssize_t frequency_of(const Segments *segments, int32_t term);
double idf_of(const Segments *segments, Py_ssize_t frequency);
int top_places(const Segment *segment, int32_t id, int64_t *first, int64_t *last, int *described);

/* plan.c */
int check_plan(Plan *plan);
void release_plan(Plan *plan);

/* state.c */
int reserve(Vector *vector, size_t capacity, size_t size);
int reserve_zeros(Vector *vector, size_t capacity, size_t size);
State *take_state(const Segments *segments, const Plan *plan);
void put_state(State *state);
void let_go(State *state, int64_t postings);
void hold(State *state);
void next_segment(State *state, Py_ssize_t number);
int clear_table(Vector *table, size_t terms);
Shared *place_of(const Vector *table, int32_t term);

/* documents.c */
Doc *doc_of(State *state, int32_t id);
int collect_documents(State *state);

/* scores.c */
Py_ssize_t match(State *state);
float score_of(const Doc *doc, const Segment *segment, const Plan *plan);
float least_of_best(State *state, size_t count, float below);
size_t count_scores(const State *state, float least, float below);
int collect_hits(State *state, float least, float below);

/* feedback.c, focus.c */
int expand(State *state, const Feedback *feedback, Py_ssize_t count);
int focus(State *state, size_t count, float most);

/* strings.c */
void release_buffers(Py_buffer *const buffers[], size_t count);
int read_strings(Strings *strings, const Py_buffer *data, const Py_buffer *offsets);
PyObject *bisect(PyObject *module, PyObject *args);
PyObject *contains(PyObject *module, PyObject *args);
PyObject *find_all(PyObject *module, PyObject *args);

/* edits.c */
PyObject *near(PyObject *module, PyObject *args, PyObject *named);

/* Release the buffers at these addresses. Those that hold no object are left out. */
#define RELEASE_BUFFERS(...)                                                                                           \
    release_buffers((Py_buffer *const[]){__VA_ARGS__}, sizeof((Py_buffer *const[]){__VA_ARGS__}) / sizeof(Py_buffer *))

#endif
