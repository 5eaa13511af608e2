// Clients written in Go, as the tests drive them: `clients franz-go` or `clients sarama` reads one
// order a line, a JSON object, and answers each with one line. What is right is for the tests to say.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

const orderTimeout = 60 * time.Second

// An order names what to do; each kind reads the fields that it needs.
type order struct {
	Do              string   `json:"do"`
	Bootstrap       string   `json:"bootstrap"`
	Topic           string   `json:"topic"`
	To              string   `json:"to"`
	Codec           string   `json:"codec"`
	Acks            int      `json:"acks"`
	Records         []record `json:"records"`
	Partitions      int      `json:"partitions"`
	Count           int      `json:"count"`
	ReadCommitted   bool     `json:"read_committed"`
	Group           string   `json:"group"`
	Protocol        string   `json:"protocol"`
	TransactionalID string   `json:"transactional_id"`
	AbortEvery      int      `json:"abort_every"`
}

type record struct {
	Partition int32       `json:"partition"`
	Offset    int64       `json:"offset"`
	Key       *string     `json:"key"`
	Value     *string     `json:"value"`
	Headers   [][2]string `json:"headers"`
	Timestamp int64       `json:"timestamp"`
}

type client interface {
	produce(ctx context.Context, o order) ([]int64, error)
	consume(ctx context.Context, o order) ([]record, error)
	// join starts a member of a group that reports each value; leave ends it.
	join(ctx context.Context, o order, received func(value string)) (leave func(), err error)
	// copy moves `Count` values from one topic to another, exactly once; it tells how many
	// transactions were committed and aborted.
	copy(ctx context.Context, o order) (committed, aborted int, err error)
	admin(ctx context.Context, o order) (map[string]any, error)
	errorCode(err error) int16
}

func main() {
	clients := map[string]client{"franz-go": franz{}, "sarama": saramaClient{}}
	c := clients[os.Args[1]]
	orders := bufio.NewReader(os.Stdin)
	for {
		line, err := orders.ReadBytes('\n')
		if err != nil {
			return
		}
		answer, err := json.Marshal(carryOut(c, line))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(answer))
	}
}

func carryOut(c client, line []byte) map[string]any {
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return map[string]any{"failure": err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), orderTimeout)
	defer cancel()
	answer, err := dispatch(ctx, c, o)
	if err != nil {
		return map[string]any{"failure": err.Error(), "code": c.errorCode(err)}
	}
	return answer
}

func dispatch(ctx context.Context, c client, o order) (map[string]any, error) {
	switch o.Do {
	case "produce":
		offsets, err := c.produce(ctx, o)
		return map[string]any{"offsets": offsets}, err
	case "consume":
		records, err := c.consume(ctx, o)
		return map[string]any{"records": records}, err
	case "share":
		return share(ctx, c, o)
	case "copy":
		committed, aborted, err := c.copy(ctx, o)
		return map[string]any{"committed": committed, "aborted": aborted}, err
	case "admin":
		return c.admin(ctx, o)
	}
	return nil, fmt.Errorf("no such order: %s", o.Do)
}

// share produces value after value while three members of a group come and the first of them goes:
// the next step is taken when the newest member has received its share.
func share(ctx context.Context, c client, o order) (map[string]any, error) {
	const members, shareOf = 3, 10
	g := &gathering{received: make([][]string, members), distinct: map[string]bool{}}
	leaves := make([]func(), members)
	sent := 0
	produceUntil := func(done func() bool) error {
		for ; !done(); sent++ {
			one := o
			value := fmt.Sprintf("value %d", sent)
			one.Records = []record{{Partition: int32(sent % o.Partitions), Value: &value}}
			if _, err := c.produce(ctx, one); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range members {
		var err error
		if leaves[i], err = c.join(ctx, o, func(value string) { g.add(i, value) }); err != nil {
			return nil, err
		}
		if err = produceUntil(func() bool { return g.count(i) >= shareOf }); err != nil {
			return nil, err
		}
	}
	leaves[0]()
	last := sent + shareOf
	if err := produceUntil(func() bool { return sent == last }); err != nil {
		return nil, err
	}
	for g.distinctCount() < sent {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%d of %d values", g.distinctCount(), sent)
		}
		time.Sleep(10 * time.Millisecond)
	}
	leaves[1]()
	leaves[2]()
	return map[string]any{"sent": sent, "members": g.received}, nil
}

// A gathering is what the members of a group have received.
type gathering struct {
	mutex    sync.Mutex
	received [][]string
	distinct map[string]bool
}

func (g *gathering) add(member int, value string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.received[member] = append(g.received[member], value)
	g.distinct[value] = true
}

func (g *gathering) count(member int) int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return len(g.received[member])
}

func (g *gathering) distinctCount() int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return len(g.distinct)
}
