// The least that a broker can do: receive requests and write them to a file, or send a range of
// that file. One thread, one epoll loop; nothing is checked, indexed, ordered or remembered.
//
//     serve port file
//
// A Produce is appended to the file with its head and answered with success, a Fetch v12 of `raw`
// is answered with as many bytes from the start of the file on as it asks for, by sendfile.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER_BYTES = 8 << 20, READ_BYTES = 1 << 18, EVENTS = 64, RUN_BYTES = 64 << 20 };

struct connection {
    int fd;
    uint8_t *buffer;
    size_t have;
    off_t offset;
};

static int file;

static uint32_t number(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

static void put(uint8_t *to, uint32_t value) {
    to[0] = value >> 24, to[1] = value >> 16, to[2] = value >> 8, to[3] = value;
}

static int send_all(int fd, const uint8_t *bytes, size_t count, int flags) {
    while (count) {
        ssize_t sent = send(fd, bytes, count, flags | MSG_NOSIGNAL);
        if (sent <= 0) return 0;
        bytes += sent, count -= sent;
    }
    return 1;
}

static int answer_produce(struct connection *c, const uint8_t *frame, size_t bytes) {
    // Correlation id, tags, one topic of one partition without an error; sizes as a broker's.
    uint8_t answer[4 + 4 + 1 + 64] = {0};
    size_t named = frame[4 + 8 + 2 + 3 + 1 + 1 + 2 + 4 + 1] - 1;
    if (named > 16) return 0;
    memcpy(answer + 4, frame + 8, 4);
    answer[9] = 2, answer[10] = named + 1;
    size_t at = 11 + named;
    answer[at] = 2;
    at += 1 + 4 + 2 + 8 + 8 + 8 + 1 + 1 + 1 + 1 + 4 + 1;
    put(answer, at - 4);
    return write(file, frame, bytes) == (ssize_t)bytes && send_all(c->fd, answer, at, 0);
}

static int answer_fetch(struct connection *c, const uint8_t *frame, size_t bytes) {
    // The partition's limit stands ahead of the last five bytes: tags, forgotten topics, rack.
    uint32_t most = number(frame + bytes - 5 - 4);
    uint8_t head[4 + 64] = {0};
    put(head, most + 60);
    memcpy(head + 4, frame + 8, 4);
    if (c->offset + most > RUN_BYTES) c->offset = 0;
    if (!send_all(c->fd, head, 64, MSG_MORE)) return 0;
    for (size_t left = most; left;) {
        ssize_t sent = sendfile(c->fd, file, &c->offset, left);
        if (sent <= 0) return 0;
        left -= sent;
    }
    return 1;
}

static int serve(struct connection *c) {
    ssize_t got = recv(c->fd, c->buffer + c->have, READ_BYTES, 0);
    if (got <= 0) return 0;
    c->have += got;
    size_t at = 0;
    while (c->have - at >= 8) {
        const uint8_t *frame = c->buffer + at;
        size_t bytes = 4 + (size_t)number(frame);
        if (bytes > BUFFER_BYTES - READ_BYTES) return 0;
        if (c->have - at < bytes) break;
        if (!(frame[5] ? answer_fetch : answer_produce)(c, frame, bytes)) return 0;
        at += bytes;
    }
    memmove(c->buffer, c->buffer + at, c->have -= at);
    return 1;
}

static void take_connection(int listener, int poller) {
    int on = 1;
    struct connection *c = calloc(1, sizeof *c);
    c->fd = accept(listener, NULL, NULL);
    c->buffer = malloc(BUFFER_BYTES);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0), poller = epoll_create1(0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    signal(SIGPIPE, SIG_IGN);  // sendfile has no flag against it
    file = open(argv[2], O_RDWR | O_CREAT | O_APPEND, 0600);
    if (file < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1024)) {
        perror("serve");
        return 1;
    }
    struct epoll_event own = {.events = EPOLLIN}, events[EVENTS];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &own);
    for (;;) {
        int count = epoll_wait(poller, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            struct connection *c = events[i].data.ptr;
            if (!c) take_connection(listener, poller);
            else if (!serve(c)) close(c->fd), free(c->buffer), free(c);
        }
    }
}
