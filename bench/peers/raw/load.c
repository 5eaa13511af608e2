// As many Produce or Fetch requests as one broker answers, from one thread that does next to
// nothing itself: the requests are made beforehand, what is fetched is never copied to here.
//
//     load produce port topic partitions seconds connections inflight batch_bytes records
//     load fetch   port topic partitions seconds connections inflight max_bytes step end
//
// Produce v9 with acks=1, each connection to the partition of its number. Fetch v12 without a
// session; `step` is how many offsets an answer of `max_bytes` holds, `end` where to start again.
// Tells in one line of JSON how it went.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_BYTES = 1 << 16, LATENCIES_MAX = 1 << 22, QUIET_MS = 30000, REFUSALS_MAX = 5000 };

struct connection {
    int fd;
    uint8_t *request;
    size_t request_bytes, offset_at;
    long left;            // bytes of the answer that are still to come
    uint8_t head[4];
    int head_bytes;
    int64_t offset;
    double *sent_at;
    long sent, answered;
    int wrote;            // at least once
};

static int is_fetch, inflight;
static long argument_a, argument_b, argument_c;
static uint32_t crc_table[256];
static double *latencies;
static long latency_count, answers, refusals;
static double bytes_answered, bytes_sent;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void give_up(const char *why) {
    fprintf(stderr, "%s: %s\n", why, strerror(errno));
    exit(1);
}

static uint8_t *put(uint8_t *to, uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; i--) *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

static uint8_t *put_varint(uint8_t *to, uint64_t value) {
    for (; value > 127; value >>= 7) *to++ = (uint8_t)(value | 128);
    *to++ = (uint8_t)value;
    return to;
}

static uint8_t *put_zigzag(uint8_t *to, int64_t value) {
    return put_varint(to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static uint32_t crc32c(const uint8_t *bytes, size_t count) {
    uint32_t crc = ~0u;
    if (!crc_table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t each = i;
            for (int bit = 0; bit < 8; bit++) each = each >> 1 ^ (each & 1 ? 0x82f63b78u : 0);
            crc_table[i] = each;
        }
    while (count--) crc = crc >> 8 ^ crc_table[(crc ^ *bytes++) & 255];
    return ~crc;
}

// A batch of `records` whose values are `bytes` together.
static uint8_t *put_batch(uint8_t *to, long bytes, long records) {
    uint8_t *start = to, record[64];
    long size = bytes / records;
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    to = put(to, 0, 8), to = put(to, 0, 4), to = put(to, 0xffffffff, 4), to = put(to, 2, 1);
    to = put(to, 0, 4), to = put(to, 0, 2), to = put(to, records - 1, 4);
    to = put(to, now_ms, 8), to = put(to, now_ms, 8), to = put(to, ~0ull, 8);
    to = put(to, 0xffff, 2), to = put(to, 0xffffffff, 4), to = put(to, records, 4);
    for (long i = 0; i < records; i++) {
        uint8_t *end = record;
        *end++ = 0, *end++ = 0;
        end = put_zigzag(end, i), end = put_zigzag(end, -1), end = put_zigzag(end, size);
        to = put_zigzag(to, end - record + size + 1);
        memcpy(to, record, end - record), to += end - record;
        for (long k = 0; k < size; k++) *to++ = 'a' + (k * 7 + i) % 26;
        *to++ = 0;
    }
    put(start + 8, to - start - 12, 4);
    put(start + 17, crc32c(start + 21, to - start - 21), 4);
    return to;
}

static uint8_t *put_head(uint8_t *to, int key, int version) {
    to = put(to, key, 2), to = put(to, version, 2), to = put(to, 1, 4), to = put(to, 3, 2);
    memcpy(to, "raw", 3);
    return put(to + 3, 0, 1);
}

static uint8_t *put_topic(uint8_t *to, const char *topic, int partition) {
    to = put_varint(to, 2), to = put_varint(to, strlen(topic) + 1);
    memcpy(to, topic, strlen(topic)), to += strlen(topic);
    return put(put_varint(to, 2), partition, 4);
}

static void make_request(struct connection *c, const char *topic, int partition) {
    c->request = malloc(HEAD_BYTES + (is_fetch ? 0 : 2 * argument_a + 32 * argument_b));
    uint8_t *to = c->request + 4;
    if (is_fetch) {
        to = put_head(to, 1, 12), to = put(to, 0xffffffff, 4), to = put(to, 500, 4);
        to = put(to, 1, 4), to = put(to, 50 << 20, 4), to = put(to, 0, 1);
        to = put(to, 0, 4), to = put(to, 0xffffffff, 4), to = put_topic(to, topic, partition);
        to = put(to, 0xffffffff, 4), c->offset_at = to - c->request;
        to = put(to, 0, 8), to = put(to, 0xffffffff, 4), to = put(to, ~0ull, 8);
        to = put(to, argument_a, 4), to = put(to, 0, 2);
        to = put(to, 1, 1), to = put(to, 1, 1), to = put(to, 0, 1);
    } else {
        uint8_t *batch = malloc(HEAD_BYTES + 2 * argument_a + 32 * argument_b);
        size_t bytes = put_batch(batch, argument_a, argument_b) - batch;
        to = put_head(to, 0, 9), to = put(to, 0, 1), to = put(to, 1, 2), to = put(to, 30000, 4);
        to = put_topic(to, topic, partition), to = put_varint(to, bytes + 1);
        memcpy(to, batch, bytes), to += bytes;
        to = put(to, 0, 3);
        free(batch);
    }
    c->request_bytes = to - c->request;
    put(c->request, c->request_bytes - 4, 4);
}

static void open_connection(struct connection *c, int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int on = 1;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(c->fd, (struct sockaddr *)&to, sizeof to)) give_up("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->sent_at = malloc(inflight * sizeof *c->sent_at);
}

static void ask(struct connection *c) {
    if (is_fetch) {
        put(c->request + c->offset_at, c->offset, 8);
        c->offset = c->offset + argument_b < argument_c ? c->offset + argument_b : 0;
    }
    c->sent_at[c->sent++ % inflight] = now_s();
    for (size_t sent = 0; sent < c->request_bytes;) {
        ssize_t some = send(c->fd, c->request + sent, c->request_bytes - sent, MSG_NOSIGNAL);
        if (some <= 0) give_up("send");
        sent += some;
    }
    bytes_sent += c->request_bytes;
}

// Whether a Produce of one partition went well. In a topic's first moments it need not, and is tried
// again; an answer to a Fetch tells by its length.
static int is_written(struct connection *c, const uint8_t *body, long bytes, const char *topic) {
    size_t at = 4 + 1 + 1 + 1 + strlen(topic) + 1 + 4;
    int error = (long)at + 2 > bytes ? -1 : (int16_t)(body[at] << 8 | body[at + 1]);
    if (!error) return c->wrote = 1;
    if (c->wrote || ++refusals > REFUSALS_MAX) {
        fprintf(stderr, "the broker refuses with error %d\n", error);
        exit(1);
    }
    usleep(1000);
    return 0;
}

// Takes what has come for one connection; how many answers that completed.
static int receive(struct connection *c, const char *topic) {
    static uint8_t body[HEAD_BYTES];
    if (c->left == 0) {
        ssize_t got = recv(c->fd, c->head + c->head_bytes, 4 - c->head_bytes, 0);
        if (got <= 0) give_up("the broker hung up");
        if ((c->head_bytes += got) < 4) return 0;
        c->left = (long)c->head[0] << 24 | c->head[1] << 16 | c->head[2] << 8 | c->head[3];
        c->head_bytes = 0;
        bytes_answered += c->left;
        if (is_fetch && c->left < argument_a / 2) {
            fprintf(stderr, "a fetch found only %ld bytes\n", c->left);
            exit(1);
        }
    }
    if (is_fetch) {
        ssize_t got = recv(c->fd, body, c->left, MSG_TRUNC);  // counted, not copied
        if (got <= 0) give_up("the broker hung up");
        c->left -= got;
    } else {
        if (c->left > HEAD_BYTES || recv(c->fd, body, c->left, MSG_WAITALL) != c->left)
            give_up("the broker hung up");
        long bytes = c->left;
        c->left = 0;
        if (!is_written(c, body, bytes, topic)) {
            c->answered++, ask(c);
            return 0;
        }
    }
    if (c->left) return 0;
    if (latency_count < LATENCIES_MAX)
        latencies[latency_count++] = now_s() - c->sent_at[c->answered % inflight];
    c->answered++;
    return 1;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(struct connection *all, int count, const char *topic, double seconds) {
    struct pollfd *polled = calloc(count, sizeof *polled);
    double start = now_s(), end = start + seconds;
    for (int i = 0; i < count; i++) {
        polled[i] = (struct pollfd){all[i].fd, POLLIN, 0};
        for (int k = 0; k < inflight; k++) ask(&all[i]);
    }
    while (now_s() < end) {
        if (poll(polled, count, QUIET_MS) <= 0) give_up("the broker does not answer");
        for (int i = 0; i < count; i++)
            if (polled[i].revents && receive(&all[i], topic)) answers++, ask(&all[i]);
    }
    double took = now_s() - start;
    qsort(latencies, latency_count, sizeof *latencies, by_value);
    printf("{\"requests_per_s\": %.1f, \"records_per_s\": %.1f, \"mb_per_s\": %.3f, \"p50_ms\": %.4f, "
           "\"p99_ms\": %.4f}\n",
           answers / took, is_fetch ? answers * argument_b / took : answers * argument_b / took,
           (is_fetch ? bytes_answered : bytes_sent) / took / 1e6, latencies[latency_count / 2] * 1e3,
           latencies[latency_count * 99 / 100] * 1e3);
}

int main(int argc, char **argv) {
    if (argc < 10) {
        fprintf(stderr, "see the head of load.c\n");
        return 2;
    }
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    is_fetch = !strcmp(argv[1], "fetch");
    int partitions = atoi(argv[4]), count = atoi(argv[6]);
    inflight = atoi(argv[7]);
    argument_a = atol(argv[8]), argument_b = atol(argv[9]), argument_c = argc > 10 ? atol(argv[10]) : 0;
    latencies = malloc(LATENCIES_MAX * sizeof *latencies);
    struct connection *all = calloc(count, sizeof *all);
    for (int i = 0; i < count; i++) {
        open_connection(&all[i], atoi(argv[2]));
        make_request(&all[i], argv[3], i % partitions);
    }
    run(all, count, argv[3], atof(argv[5]));
    return 0;
}
