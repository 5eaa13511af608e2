// Drives librdkafka against one broker and tells in one line of JSON how it went:
//
//     rdkafka MODE bootstrap topic partitions size count rate [property=value ...]
//
// produce       `count` records as fast as they go, round robin over the partitions
// sync          `count` records, each acknowledged before the next
// consume       `count` records from the beginning of the topic
// fan_out       produce, read at the same time by `rate` consumers of all of it
// latency       `count` records, `rate` a second, from the producer's call to the consumer's
// transactions  `count` transactions of one record each
// group         `count` members subscribe; how long until each partition has one owner
//
// Nothing is done per record here but what each mode needs: the work is librdkafka's.
#define _GNU_SOURCE
#include "rdkafka.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POOL_BYTES = 4 << 20, BATCH = 20000, TIMEOUT_MS = 60000, CONSUMERS_MAX = 64 };

static struct {
    const char *bootstrap, *topic;
    int partitions;
    long size, count, rate;
    char **properties;
} order;
static _Atomic long delivered, failed;
static char *pool;

static void give_up(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    _exit(1);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void sleep_until(double at_s) {
    double left = at_s - now_s();
    if (left <= 0) return;
    struct timespec t = {(time_t)left, (long)((left - (time_t)left) * 1e9)};
    nanosleep(&t, NULL);
}

// Text that a codec makes about half as long.
static void fill_pool(void) {
    unsigned random = 12345;
    pool = malloc(POOL_BYTES + order.size);
    for (long i = 0; i < POOL_BYTES + order.size; i++) {
        random = random * 1103515245 + 12345;
        pool[i] = i % 16 < 8 ? "abcdefgh"[i % 8] : (char)('0' + (random >> 16) % 64);
    }
}

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client, (void)opaque;
    if (!message->err) delivered++;
    else if (!failed++) fprintf(stderr, "not delivered: %s\n", rd_kafka_err2str(message->err));
}

static rd_kafka_conf_t *conf_of(int type) {
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", order.bootstrap, error, sizeof error);
    for (char **each = order.properties; *each; each++) {
        char name[128], *value = strchr(*each, '=');
        snprintf(name, sizeof name, "%.*s", (int)(value - *each), *each);
        // "c.": of consumers only, "p.": of producers only.
        if (name[1] == '.' && (name[0] == 'c') != (type == RD_KAFKA_CONSUMER)) continue;
        const char *key = name[1] == '.' ? name + 2 : name;
        if (rd_kafka_conf_set(conf, key, value + 1, error, sizeof error)) give_up(key, error);
    }
    return conf;
}

static rd_kafka_t *client_of(int type, rd_kafka_conf_t *conf) {
    char error[512];
    rd_kafka_t *client = rd_kafka_new(type, conf, error, sizeof error);
    if (!client) give_up("client", error);
    return client;
}

static rd_kafka_t *new_producer(void) {
    rd_kafka_conf_t *conf = conf_of(RD_KAFKA_PRODUCER);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    return client_of(RD_KAFKA_PRODUCER, conf);
}

static void produce(rd_kafka_topic_t *topic, int32_t partition, void *payload) {
    while (rd_kafka_produce(topic, partition, RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK, payload,
                            order.size, NULL, 0, NULL) == -1)
        if (rd_kafka_last_error() != -184 /* the queue is full */)
            give_up("produce", rd_kafka_err2str(rd_kafka_last_error()));
}

static void wait_for_deliveries(rd_kafka_t *client, long count) {
    while (delivered + failed < count) rd_kafka_poll(client, 100);
    if (failed) give_up("produce", "some records were not delivered");
}

// A first record everywhere: connections and leaders are known when the clock starts.
static void warm_up(rd_kafka_t *client, rd_kafka_topic_t *topic) {
    for (int i = 0; i < order.partitions; i++) produce(topic, i, pool);
    wait_for_deliveries(client, order.partitions);
    delivered = 0;
}

static void *poll_forever(void *client) {
    for (;;) rd_kafka_poll(client, 100);
    return NULL;
}

static rd_kafka_t *new_consumer(int64_t offset) {
    rd_kafka_conf_t *conf = conf_of(RD_KAFKA_CONSUMER);
    char error[512];
    rd_kafka_conf_set(conf, "group.id", "bench", error, sizeof error);
    rd_kafka_conf_set(conf, "enable.auto.commit", "false", error, sizeof error);
    rd_kafka_t *client = client_of(RD_KAFKA_CONSUMER, conf);
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(order.partitions);
    for (int i = 0; i < order.partitions; i++) {
        rd_kafka_topic_partition_list_add(all, order.topic, i);
        rd_kafka_topic_partition_list_set_offset(all, order.topic, i, offset);
    }
    rd_kafka_assign(client, all);
    return client;
}

typedef void record_fn(const rd_kafka_message_t *, double now_s, long index);

// Reads `count` records; how long it took from the first batch on, of which none counts.
static double consume(rd_kafka_t *client, long count, long *timed, record_fn *each) {
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(client);
    rd_kafka_message_t **batch = malloc(BATCH * sizeof *batch);
    double start = 0, last = now_s();
    long read = 0, first = 0;
    while (read < count) {
        ptrdiff_t got = rd_kafka_consume_batch_queue(queue, each ? 1 : 200, batch, BATCH);
        double now = now_s();
        if (got > 0) last = now;
        else if (now - last > TIMEOUT_MS / 1000) give_up("consume", "no more records came");
        for (ptrdiff_t i = 0; i < got; i++) {
            if (batch[i]->err) give_up("consume", rd_kafka_message_errstr(batch[i]));
            if (each) each(batch[i], now, read + i);
            rd_kafka_message_destroy(batch[i]);
        }
        read += got;
        if (got > 0 && !first) first = got, start = now;
    }
    *timed = read - first;
    return now_s() - start;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void tell_rate(double records, double seconds) {
    printf("{\"records_per_s\": %.1f, \"mb_per_s\": %.3f}\n", records / seconds,
           records * order.size / seconds / 1e6);
}

static void tell_latencies(double *seconds, long count, double took_s) {
    qsort(seconds, count, sizeof *seconds, by_value);
    printf("{\"records_per_s\": %.1f, \"p50_ms\": %.4f, \"p99_ms\": %.4f, \"p999_ms\": %.4f}\n",
           count / took_s, seconds[count / 2] * 1e3, seconds[count * 99 / 100] * 1e3,
           seconds[count * 999 / 1000] * 1e3);
}

static void produce_all(rd_kafka_t *client, rd_kafka_topic_t *topic) {
    // In runs of 64, as a sticky partitioner does, over a pool so that codecs have work.
    for (long i = 0; i < order.count; i++)
        produce(topic, (i >> 6) % order.partitions, pool + i * 64 % POOL_BYTES);
    rd_kafka_flush(client, TIMEOUT_MS);
    while (delivered + failed < order.count) usleep(500);
    if (failed) give_up("produce", "some records were not delivered");
}

static void run_produce(void) {
    rd_kafka_t *client = new_producer();
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, order.topic, NULL);
    warm_up(client, topic);
    pthread_t poller;
    pthread_create(&poller, NULL, poll_forever, client);
    double start = now_s();
    produce_all(client, topic);
    tell_rate(order.count, now_s() - start);
}

static void run_sync(void) {
    rd_kafka_t *client = new_producer();
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, order.topic, NULL);
    warm_up(client, topic);
    double *seconds = malloc(order.count * sizeof *seconds), start = now_s();
    for (long i = 0; i < order.count; i++) {
        double sent = now_s();
        produce(topic, i % order.partitions, pool);
        wait_for_deliveries(client, i + 1);
        seconds[i] = now_s() - sent;
    }
    tell_latencies(seconds, order.count, now_s() - start);
}

static void run_consume(void) {
    long timed;
    double seconds = consume(new_consumer(RD_KAFKA_OFFSET_BEGINNING), order.count, &timed, NULL);
    tell_rate(timed, seconds);
}

static void *consume_its_own(void *client) {
    long timed;
    consume(client, order.count + order.partitions, &timed, NULL);
    return NULL;
}

static void run_fan_out(void) {
    pthread_t threads[CONSUMERS_MAX], poller;
    rd_kafka_t *client = new_producer();
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, order.topic, NULL);
    for (int i = 0; i < order.rate; i++)
        pthread_create(&threads[i], NULL, consume_its_own, new_consumer(RD_KAFKA_OFFSET_BEGINNING));
    warm_up(client, topic);
    pthread_create(&poller, NULL, poll_forever, client);
    double start = now_s();
    produce_all(client, topic);
    for (int i = 0; i < order.rate; i++) pthread_join(threads[i], NULL);
    tell_rate((double)order.count * order.rate, now_s() - start);
}

static double *latencies;

static void take_latency(const rd_kafka_message_t *message, double now, long index) {
    double sent;
    memcpy(&sent, message->payload, sizeof sent);
    latencies[index] = now - sent;
}

static void *consume_with_latencies(void *client) {
    long timed;
    consume(client, order.count, &timed, take_latency);
    return NULL;
}

static void run_latency(void) {
    rd_kafka_t *client = new_producer();
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, order.topic, NULL);
    warm_up(client, topic);
    latencies = malloc((order.count + BATCH) * sizeof *latencies);
    rd_kafka_t *consumer = new_consumer(RD_KAFKA_OFFSET_END);
    sleep_until(now_s() + 1);  // for the consumer to be at the end
    pthread_t poller, reader;
    pthread_create(&poller, NULL, poll_forever, client);
    pthread_create(&reader, NULL, consume_with_latencies, consumer);
    char *payload = malloc(order.size);
    memcpy(payload, pool, order.size);
    double start = now_s();
    for (long i = 0; i < order.count; i++) {
        sleep_until(start + (double)i / order.rate);
        double now = now_s();
        memcpy(payload, &now, sizeof now);
        produce(topic, i % order.partitions, payload);
    }
    pthread_join(reader, NULL);
    tell_latencies(latencies, order.count, now_s() - start);
}

static void check(rd_kafka_error_t *error) {
    if (error) give_up("transaction", rd_kafka_error_string(error));
}

static void run_transactions(void) {
    rd_kafka_t *client = new_producer();
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, order.topic, NULL);
    check(rd_kafka_init_transactions(client, TIMEOUT_MS));
    double *seconds = malloc(order.count * sizeof *seconds), start = 0;
    for (long i = -10; i < order.count; i++) {  // the first ten find out who leads what
        if (i == 0) start = now_s();
        double begun = now_s();
        check(rd_kafka_begin_transaction(client));
        produce(topic, (i + 10) % order.partitions, pool);
        check(rd_kafka_commit_transaction(client, TIMEOUT_MS));
        if (i >= 0) seconds[i] = now_s() - begun;
    }
    tell_latencies(seconds, order.count, now_s() - start);
}

static void run_group(void) {
    rd_kafka_t **members = malloc(order.count * sizeof *members);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1), *own;
    rd_kafka_topic_partition_list_add(topics, order.topic, -1);
    double start = now_s();
    for (long i = 0; i < order.count; i++) {
        members[i] = client_of(RD_KAFKA_CONSUMER, conf_of(RD_KAFKA_CONSUMER));
        rd_kafka_poll_set_consumer(members[i]);
        rd_kafka_subscribe(members[i], topics);
    }
    for (int owned = 0, owners = 0; owned != order.partitions || owners != order.count;) {
        owned = owners = 0;
        if (now_s() - start > TIMEOUT_MS / 1000) give_up("group", "not stable in a minute");
        for (long i = 0; i < order.count; i++) {
            rd_kafka_message_t *message = rd_kafka_consumer_poll(members[i], 0);
            if (message) rd_kafka_message_destroy(message);
            rd_kafka_assignment(members[i], &own);
            owned += own->cnt;
            owners += own->cnt > 0;
            rd_kafka_topic_partition_list_destroy(own);
        }
        usleep(1000);
    }
    printf("{\"seconds\": %.3f}\n", now_s() - start);
}

int main(int argc, char **argv) {
    static const struct { const char *name; void (*run)(void); } modes[] = {
        {"produce", run_produce}, {"sync", run_sync}, {"consume", run_consume},
        {"fan_out", run_fan_out}, {"latency", run_latency},
        {"transactions", run_transactions}, {"group", run_group},
    };
    if (argc < 8) give_up("usage", "MODE bootstrap topic partitions size count rate [key=value ...]");
    order.bootstrap = argv[2];
    order.topic = argv[3];
    order.partitions = atoi(argv[4]);
    order.size = atol(argv[5]);
    order.count = atol(argv[6]);
    order.rate = atol(argv[7]);
    order.properties = argv + 8;
    fill_pool();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(modes[i].name, argv[1])) {
            modes[i].run();
            fflush(stdout);
            _exit(0);  // without the goodbyes of clients and their threads
        }
    give_up("no such mode", argv[1]);
}
