# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Reading a record where it lies: every length is checked, once, before anything is made of it.

A field is checked against its record, and the record against its section. A result of False means
malformed bytes; the cursor is then anywhere before its end. All is inline in _columns.pyx.
"""

from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint8_t, uint64_t

cdef enum:
    ABSENT = -1


cdef struct Cursor:
    const uint8_t* at
    const uint8_t* end


cdef struct Field:
    const uint8_t* at
    int64_t size  # ABSENT where it is null


cdef struct Record:
    int64_t offset
    int64_t timestamp
    Field key
    Field value


cdef struct Bases:
    int64_t offset
    int64_t last_offset_delta
    int64_t timestamp
    int64_t log_append_time
    bint is_log_append_time


cdef inline bint read_encoded(Cursor* cursor, int bits_max, uint64_t* encoded) noexcept:
    """A varint, still in zigzag form: one or two bytes, mostly."""
    cdef int64_t left = cursor.end - cursor.at
    if left > 0 and cursor.at[0] < 128:
        encoded[0] = cursor.at[0]
        cursor.at += 1
        return True
    if left > 1 and cursor.at[1] < 128:
        encoded[0] = cursor.at[0] & 127 | <uint64_t> cursor.at[1] << 7
        cursor.at += 2
        return True
    return read_encoded_long(cursor, bits_max, encoded)


cdef inline bint read_encoded_long(Cursor* cursor, int bits_max, uint64_t* encoded) noexcept:
    cdef uint64_t result = 0
    cdef uint64_t bits
    cdef uint8_t byte
    cdef int shift = 0
    while shift < bits_max and cursor.at < cursor.end:
        byte = cursor.at[0]
        cursor.at += 1
        bits = byte & 127
        if bits_max - shift < 7 and bits >> (bits_max - shift):
            return False
        result |= bits << shift
        if byte < 128:
            encoded[0] = result
            return True
        shift += 7
    return False


cdef inline int64_t unzigzag(uint64_t encoded) noexcept:
    return <int64_t> (encoded >> 1) ^ -<int64_t> (encoded & 1)


cdef inline bint read_field(Cursor* cursor, Field* field) noexcept:
    cdef uint64_t encoded = 0
    if not read_encoded(cursor, 32, &encoded):
        return False
    field.at = cursor.at
    if encoded & 1:
        field.size = ABSENT
        return encoded == 1
    field.size = <int64_t> (encoded >> 1)
    if field.size > cursor.end - cursor.at:
        return False
    cursor.at += field.size
    return True


cdef inline bint open_record(Cursor* section, Cursor* fields) noexcept:
    """Sets `fields` to the bytes of the next record, and `section` behind it."""
    cdef uint64_t encoded = 0
    if not read_encoded(section, 32, &encoded):
        return False
    if encoded & 1 or <int64_t> (encoded >> 1) > section.end - section.at:
        return False
    fields.at = section.at
    section.at += encoded >> 1
    fields.end = section.at
    return True


cdef inline bint read_record(Cursor* fields, const Bases* bases, Record* record) noexcept:
    """Everything before the headers."""
    cdef uint64_t encoded = 0
    cdef int64_t delta
    if fields.at == fields.end:
        return False
    fields.at += 1  # the attributes, which are unused
    if not read_encoded(fields, 64, &encoded):
        return False
    delta = unzigzag(encoded)
    if bases.is_log_append_time:
        record.timestamp = bases.log_append_time
    elif delta > 0 and bases.timestamp > INT64_MAX - delta:
        return False
    elif delta < 0 and bases.timestamp < INT64_MIN - delta:
        return False
    else:
        record.timestamp = bases.timestamp + delta
    if not read_encoded(fields, 32, &encoded):
        return False
    if encoded & 1 or <int64_t> (encoded >> 1) > bases.last_offset_delta:
        return False
    record.offset = bases.offset + <int64_t> (encoded >> 1)
    return read_field(fields, &record.key) and read_field(fields, &record.value)
