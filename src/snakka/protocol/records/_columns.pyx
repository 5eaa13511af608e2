# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The walk over a batch's records, compiled: into columns, or only over the keys.

One pass: a field is put into its column as soon as it is read. Only `MalformedError` comes out, for
exactly the bytes for which the twin raises it.

Not here: reading a record (_record_reader.pxd), which batches to walk (columns.py), and the same in
pure Python (_columns_python.py).
"""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Resize
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from snakka.protocol.records._record_reader cimport (
    ABSENT,
    Bases,
    Cursor,
    Field,
    Record,
    open_record,
    read_encoded,
    read_field,
    read_record,
)

from snakka.protocol.errors import MalformedError
from snakka.protocol.records import column_buffers

cdef Py_ssize_t COLUMN_BYTES_MAX = column_buffers.COLUMN_BYTES_MAX
cdef object BinaryColumn = column_buffers.BinaryColumn
cdef object Columns = column_buffers.Columns
cdef object KeySpan = column_buffers.KeySpan
cdef object new_tuple = tuple.__new__

cdef enum:
    RECORD_BYTES_MIN = 7
    HEADER_BYTES_MIN = 2
    CAPACITY_BYTES_MIN = 4096


cdef Bases read_bases(object header):
    log_append_time = header.log_append_time
    return Bases(
        offset=header.base_offset,
        last_offset_delta=header.last_offset_delta,
        timestamp=header.base_timestamp,
        log_append_time=log_append_time or 0,
        is_log_append_time=log_append_time is not None,
    )


cdef int check_count(Py_ssize_t count, const uint8_t[::1] section) except -1:
    if count > section.shape[0] // RECORD_BYTES_MIN:
        raise MalformedError("record batch", 0, f"{count} records in {section.shape[0]} bytes")
    return 0


cdef int check_end(const Cursor* cursor) except -1:
    if cursor.at != cursor.end:
        raise MalformedError("record batch", 0, f"{cursor.end - cursor.at} bytes too many")
    return 0


cdef object malformed(Py_ssize_t start):
    return MalformedError("record", start, "its fields do not fit it, or it does not fit the batch")


@cython.final
cdef class GrowingBuffer:
    """Bytes that are appended to, and handed over without a copy."""

    cdef bytearray content
    cdef char* start
    cdef Py_ssize_t used
    cdef Py_ssize_t capacity

    def __cinit__(self, Py_ssize_t capacity = CAPACITY_BYTES_MIN):
        self.content = bytearray()
        self.grow(capacity)

    cdef int grow(self, Py_ssize_t more) except -1:
        cdef Py_ssize_t capacity = max(self.used + more, 2 * self.capacity)
        PyByteArray_Resize(self.content, capacity)
        self.start = PyByteArray_AS_STRING(self.content)
        self.capacity = capacity
        return 0

    cdef inline int reserve(self, Py_ssize_t more) except -1:
        if more > self.capacity - self.used:
            self.grow(more)
        return 0

    cdef inline int put(self, const void* source, Py_ssize_t size) except -1:
        self.reserve(size)
        memcpy(self.start + self.used, source, size)
        self.used += size
        return 0

    cdef bytearray take(self):
        """The bytes written; the next ones, expected to be as many, go to a new buffer."""
        cdef bytearray content = self.content
        cdef Py_ssize_t expected = self.used + self.used // 8 + CAPACITY_BYTES_MIN
        PyByteArray_Resize(content, self.used)
        self.content = bytearray()
        self.capacity = self.used = 0
        self.grow(expected)
        return content


@cython.final
cdef class GrowingColumn:
    """A BinaryColumn in the making."""

    cdef GrowingBuffer validity
    cdef GrowingBuffer bounds
    cdef GrowingBuffer data
    cdef Py_ssize_t count
    cdef Py_ssize_t null_count

    def __cinit__(self):
        self.validity, self.bounds, self.data = GrowingBuffer(), GrowingBuffer(), GrowingBuffer()
        self.start_anew()

    cdef int start_anew(self) except -1:
        cdef int32_t first = 0
        self.count = self.null_count = 0
        self.bounds.put(&first, sizeof(first))
        return 0

    cdef inline int put(self, const Field* field) except -1:
        cdef uint8_t bit = self.count & 7
        cdef uint8_t none_valid = 0
        cdef int32_t bound
        if bit == 0:
            self.validity.put(&none_valid, 1)
        if field.size == ABSENT:
            self.null_count += 1
        else:
            self.validity.start[self.count >> 3] |= 1 << bit
            self.data.put(field.at, field.size)
        bound = <int32_t> self.data.used
        self.bounds.put(&bound, sizeof(bound))
        self.count += 1
        return 0

    cdef object take(self):
        cdef bytearray validity = self.validity.take()
        column = BinaryColumn(
            validity if self.null_count else b"",
            self.bounds.take(),
            self.data.take(),
            self.null_count,
        )
        self.start_anew()
        return column


@cython.final
cdef class ColumnsBuilder:
    """Gathers the records of many batches. After an error it is of no further use."""

    cdef readonly Py_ssize_t size_bytes
    cdef Py_ssize_t row_count
    cdef GrowingBuffer offsets, timestamps, header_bounds
    cdef GrowingColumn keys, values, header_keys, header_values

    def __cinit__(self):
        self.offsets, self.timestamps = GrowingBuffer(), GrowingBuffer()
        self.header_bounds = GrowingBuffer()
        self.keys, self.values = GrowingColumn(), GrowingColumn()
        self.header_keys, self.header_values = GrowingColumn(), GrowingColumn()
        self.start_anew()

    cdef int start_anew(self) except -1:
        self.size_bytes = self.row_count = 0
        return self.put_header_bound()

    cdef inline int put_header_bound(self) except -1:
        cdef int32_t bound = <int32_t> self.header_keys.count
        return self.header_bounds.put(&bound, sizeof(bound))

    def append(
        self,
        header,
        const uint8_t[::1] section,
        int64_t start_offset,
        int64_t end_offset,
    ):
        """Adds the records of a batch from `start_offset` on and before `end_offset`."""
        cdef Cursor cursor = Cursor(&section[0], &section[0] + section.shape[0])
        cdef Cursor fields
        cdef Record record
        cdef Bases bases = read_bases(header)
        cdef Py_ssize_t count = header.record_count
        cdef Py_ssize_t start
        cdef bint is_wanted
        self.size_bytes += section.shape[0]
        if self.size_bytes > COLUMN_BYTES_MAX:
            raise MalformedError("record batch", 0, f"over {COLUMN_BYTES_MAX} bytes of records")
        check_count(count, section)
        for _ in range(count):
            start = cursor.at - &section[0]
            if not (open_record(&cursor, &fields) and read_record(&fields, &bases, &record)):
                raise malformed(start)
            is_wanted = start_offset <= record.offset < end_offset
            if fields.end - fields.at != 1 or fields.at[0] != 0:
                self.put_headers(&fields, start, is_wanted)
            if is_wanted:
                self.put_record(&record)
        check_end(&cursor)

    cdef inline int put_record(self, const Record* record) except -1:
        self.offsets.put(&record.offset, sizeof(int64_t))
        self.timestamps.put(&record.timestamp, sizeof(int64_t))
        self.keys.put(&record.key)
        self.values.put(&record.value)
        self.put_header_bound()
        self.row_count += 1
        return 0

    cdef int put_headers(self, Cursor* fields, Py_ssize_t start, bint is_wanted) except -1:
        cdef uint64_t encoded = 0
        cdef Field key, value
        if not read_encoded(fields, 32, &encoded):
            raise malformed(start)
        if encoded & 1 or <int64_t> (encoded >> 1) > (fields.end - fields.at) // HEADER_BYTES_MIN:
            raise malformed(start)
        for _ in range(<int64_t> (encoded >> 1)):
            if not (read_field(fields, &key) and read_field(fields, &value)):
                raise malformed(start)
            if key.size == ABSENT or not is_utf8(&key):
                raise malformed(start)
            if is_wanted:
                self.header_keys.put(&key)
                self.header_values.put(&value)
        if fields.at != fields.end:
            raise malformed(start)
        return 0

    def finish(self, next_offset):
        """The columns of what was appended; the builder starts anew."""
        columns = Columns(
            row_count=self.row_count,
            offsets=self.offsets.take(),
            timestamps=self.timestamps.take(),
            keys=self.keys.take(),
            values=self.values.take(),
            header_bounds=self.header_bounds.take(),
            header_keys=self.header_keys.take(),
            header_values=self.header_values.take(),
            next_offset=next_offset,
        )
        self.start_anew()
        return columns


cdef bint is_utf8(const Field* text) except -1:
    cdef int64_t position
    for position in range(text.size):
        if text.at[position] > 127:
            break
    else:
        return True
    try:
        PyUnicode_DecodeUTF8(<const char*> text.at, text.size, NULL)
    except UnicodeDecodeError:
        return False
    return True


def scan_keys(header, const uint8_t[::1] section):
    """The key of every record of a batch, and where in the section the record lies."""
    cdef Cursor cursor = Cursor(&section[0], &section[0] + section.shape[0])
    cdef Cursor fields
    cdef Record record
    cdef Bases bases = read_bases(header)
    cdef Py_ssize_t count = header.record_count
    cdef Py_ssize_t start
    cdef list spans = []
    check_count(count, section)
    for _ in range(count):
        start = cursor.at - &section[0]
        if not (open_record(&cursor, &fields) and read_record(&fields, &bases, &record)):
            raise malformed(start)
        if fields.at == fields.end:
            raise malformed(start)
        key = None
        if record.key.size != ABSENT:
            key = PyBytes_FromStringAndSize(<const char*> record.key.at, record.key.size)
        span = (record.offset, record.timestamp, key, record.value.size == ABSENT,
                start, cursor.at - &section[0])
        spans.append(new_tuple(KeySpan, span))
    check_end(&cursor)
    return spans
