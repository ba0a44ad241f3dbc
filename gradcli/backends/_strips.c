/* Simple operations on rows of float64 arrays, one after another over a few rows at a time, so that
   what lies between them never leaves the processor's first cache. strips.py makes the programs. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_THIS_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_THIS_PROCESSOR
#endif
#ifdef _MSC_VER
#define restrict __restrict
#endif

static const char *const LOOPS[] = {"add",  "sub",   "mul", "div",  "neg",
                                    "sqrt", "rsqrt", "sum", "mean", "var"};
enum { ADD, SUB, MUL, DIV, NEG, SQRT, RSQRT, SUM, MEAN, VAR, LOOP_COUNT, LAST_ELEMENTWISE = RSQRT };
enum { LANES = 8, STRIP = 2048, LINE = 8 }; /* partial sums of a row; elements of a strip: 16 KB */

/* Where element (i, j) is: at[i * row + j * item]; item is 0 for one number a row. */
typedef struct {
    double *at;
    Py_ssize_t row, item;
} Place;

typedef struct {
    int loop, out, a, b;
} Step;

/* Whether one row begins where the last one ends. */
static inline int is_solid(Place p, Py_ssize_t width) { return p.item && p.row == width; }

#define BY_ROWS                                                                                    \
    for (Py_ssize_t i = 0; i < rows; i++, out.at += out.row, a.at += a.row, b.at += b.row)
#define ALONG for (Py_ssize_t j = 0; j < width; j++)

#define BINARY(SIGN)                                                                               \
    BY_ROWS {                                                                                      \
        double *restrict o = out.at;                                                               \
        const double *x = a.at, *y = b.at;                                                         \
        const double u = *x, v = *y;                                                               \
        if (a.item && b.item)                                                                      \
            ALONG o[j] = x[j] SIGN y[j];                                                           \
        else if (a.item)                                                                           \
            ALONG o[j] = x[j] SIGN v;                                                              \
        else if (b.item)                                                                           \
            ALONG o[j] = u SIGN y[j];                                                              \
        else                                                                                       \
            *o = u SIGN v;                                                                         \
    }

#define UNARY(VALUE)                                                                               \
    {                                                                                              \
        const Py_ssize_t count = a.item ? width : 1;                                               \
        BY_ROWS {                                                                                  \
            double *restrict o = out.at;                                                           \
            for (Py_ssize_t j = 0; j < count; j++) {                                               \
                const double x = a.at[j];                                                          \
                o[j] = VALUE;                                                                      \
            }                                                                                      \
        }                                                                                          \
    }

/* total = the sum of TERM over the elements x of a row */
#define ADD_UP(TERM)                                                                               \
    {                                                                                              \
        double lane[LANES] = {0};                                                                  \
        Py_ssize_t j = 0;                                                                          \
        for (; j + LANES <= width; j += LANES)                                                     \
            for (int k = 0; k < LANES; k++) {                                                      \
                const double x = a.at[j + k];                                                      \
                lane[k] += TERM;                                                                   \
            }                                                                                      \
        total = ((lane[0] + lane[4]) + (lane[1] + lane[5])) +                                      \
                ((lane[2] + lane[6]) + (lane[3] + lane[7]));                                       \
        for (; j < width; j++) {                                                                   \
            const double x = a.at[j];                                                              \
            total += TERM;                                                                         \
        }                                                                                          \
    }

/* Adds rows to `out` where that has one row for all. */
static inline void add_rows(Place out, Place a, Py_ssize_t rows, Py_ssize_t width)
{
    double *restrict o = out.at;
    for (Py_ssize_t i = 0; i < rows; i++, a.at += a.row)
        ALONG o[j] += a.at[j];
}

FOR_THIS_PROCESSOR
static void step(int loop, Place out, Place a, Place b, Py_ssize_t rows, Py_ssize_t width)
{
    double total;
    if (loop <= LAST_ELEMENTWISE && is_solid(out, width) && is_solid(a, width) && is_solid(b, width))
        width *= rows, rows = 1;
    switch (loop) {
    case ADD: BINARY(+) break;
    case SUB: BINARY(-) break;
    case MUL: BINARY(*) break;
    case DIV: BINARY(/) break;
    case NEG: UNARY(-x) break;
    case SQRT: UNARY(sqrt(x)) break;
    case RSQRT: UNARY(1 / sqrt(x)) break;
    case SUM:
        if (out.item) {
            add_rows(out, a, rows, width);
            break;
        }
        BY_ROWS {
            ADD_UP(x)
            *out.at = total;
        }
        break;
    case MEAN:
        BY_ROWS {
            ADD_UP(x)
            *out.at = total / width;
        }
        break;
    case VAR: /* b holds the correction; from the first element, so that equal ones give exactly 0 */
        BY_ROWS {
            const double first = *a.at;
            ADD_UP(x - first)
            const double mean = total / width;
            ADD_UP((x - first - mean) * (x - first - mean))
            *out.at = total / fmax(width - *b.at, 0);
        }
        break;
    }
}

/* ---- Python -------------------------------------------------------------------------------- */

enum { MOST_PLACES = 192 };

typedef struct {
    Place places[MOST_PLACES];
    Py_buffer views[MOST_PLACES];
    int count, given;
    double *scratch;
} Memory;

static void let_go(Memory *m)
{
    while (m->given)
        PyBuffer_Release(&m->views[--m->given]);
    free(m->scratch);
}

/* Takes the arrays' memory, and makes some for the places that no array is given for. */
static int take(Memory *m, PyObject *arrays, const long long *strides, Py_ssize_t first_output,
                Py_ssize_t rows, Py_ssize_t width)
{
    const Py_ssize_t given = PyTuple_Size(arrays);
    if (given > m->count) {
        PyErr_SetString(PyExc_ValueError, "more arrays than places");
        return 0;
    }
    for (int k = 0; k < m->count; k++) {
        Place *place = &m->places[k];
        place->row = (Py_ssize_t)strides[2 * k], place->item = (Py_ssize_t)strides[2 * k + 1];
        if (place->row < 0 || place->row > width || place->item < 0 || place->item > 1) {
            PyErr_SetString(PyExc_ValueError, "a place has other strides than rows have");
            return 0;
        }
        if (k >= given)
            continue;
        Py_buffer *view = &m->views[k];
        const int how = k < first_output ? PyBUF_SIMPLE : PyBUF_WRITABLE;
        if (PyObject_GetBuffer(PyTuple_GetItem(arrays, k), view, how))
            return 0;
        m->given = k + 1;
        place->at = view->buf;
        const Py_ssize_t last = (rows - 1) * place->row + (width - 1) * place->item;
        if (view->len < (last + 1) * (Py_ssize_t)sizeof(double)) {
            PyErr_SetString(PyExc_ValueError, "an array is smaller than its place");
            return 0;
        }
    }
    const Py_ssize_t own = m->count - given;
    m->scratch = malloc((own * STRIP + LINE) * sizeof(double));
    if (!m->scratch) {
        PyErr_NoMemory();
        return 0;
    }
    double *aligned = m->scratch + LINE - (uintptr_t)m->scratch / sizeof(double) % LINE;
    for (Py_ssize_t k = 0; k < own; k++)
        m->places[given + k].at = aligned + k * STRIP;
    return 1;
}

static int is_sound(const Step *steps, Py_ssize_t count, int places)
{
    for (const Step *s = steps; s < steps + count; s++)
        if (s->loop < 0 || s->loop >= LOOP_COUNT || s->out < 0 || s->out >= places || s->a < 0 ||
            s->a >= places || s->b < 0 || s->b >= places)
            return 0;
    return 1;
}

static void run_steps(const Memory *m, const Step *steps, Py_ssize_t count, Py_ssize_t rows,
                      Py_ssize_t width, Py_ssize_t height)
{
    Place here[MOST_PLACES];
    for (Py_ssize_t done = 0; done < rows; done += height) {
        const Py_ssize_t now = rows - done < height ? rows - done : height;
        for (int k = 0; k < m->count; k++) {
            here[k] = m->places[k];
            if (k < m->given)
                here[k].at += done * here[k].row;
        }
        for (const Step *s = steps; s < steps + count; s++)
            step(s->loop, here[s->out], here[s->a], here[s->b], now, width);
    }
}

PyDoc_STRVAR(run_doc,
             "run(steps, strides, arrays, first_output, rows, width)\n\n"
             "steps: C ints, four a step: loop, and the places of output and operands.\n"
             "strides: long longs, of each place, in elements, along rows and columns.\n"
             "arrays: of the first places, those from first_output on are written to; the other\n"
             "places are scratch.");

static PyObject *run(PyObject *module, PyObject *args)
{
    const char *steps, *strides;
    Py_ssize_t steps_size, strides_size, first_output, rows, width;
    PyObject *arrays;
    if (!PyArg_ParseTuple(args, "y#y#O!nnn", &steps, &steps_size, &strides, &strides_size,
                          &PyTuple_Type, &arrays, &first_output, &rows, &width))
        return NULL;
    const Py_ssize_t count = steps_size / (Py_ssize_t)sizeof(Step);
    const Py_ssize_t places = strides_size / (2 * (Py_ssize_t)sizeof(long long));
    if (rows < 1 || width < 1 || width > STRIP || places > MOST_PLACES ||
        !is_sound((const Step *)steps, count, (int)places)) {
        PyErr_SetString(PyExc_ValueError, "not a program for strips of rows");
        return NULL;
    }
    Memory memory = {.count = (int)places};
    const Py_ssize_t height = STRIP / width;
    const int taken = take(&memory, arrays, (const long long *)strides, first_output, rows, width);
    if (taken)
        run_steps(&memory, (const Step *)steps, count, rows, width, height);
    let_go(&memory);
    if (!taken)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"run", run, METH_VARARGS, run_doc}, {NULL, NULL, 0, NULL}};

static int add_names(PyObject *module)
{
    PyObject *names = PyTuple_New(LOOP_COUNT);
    for (int k = 0; names && k < LOOP_COUNT; k++) {
        PyObject *name = PyUnicode_FromString(LOOPS[k]);
        if (!name || PyTuple_SetItem(names, k, name)) {
            Py_DECREF(names);
            return -1;
        }
    }
    const int added = names ? PyModule_AddObjectRef(module, "LOOPS", names) : -1;
    Py_XDECREF(names);
    return added;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_names},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_strips", .m_methods = methods, .m_slots = slots};

PyMODINIT_FUNC PyInit__strips(void) { return PyModuleDef_Init(&definition); }
