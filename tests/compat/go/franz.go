package main

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type franz struct{}

var franzCodecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

var franzAcks = map[int]kgo.Acks{0: kgo.NoAck(), 1: kgo.LeaderAck(), -1: kgo.AllISRAcks()}

func (franz) client(o order, options ...kgo.Opt) (*kgo.Client, error) {
	// Little of what a client has cached is fresh enough for a test that changes topics.
	always := []kgo.Opt{kgo.SeedBrokers(o.Bootstrap), kgo.MetadataMinAge(10 * time.Millisecond)}
	return kgo.NewClient(append(always, options...)...)
}

func (f franz) produce(ctx context.Context, o order) ([]int64, error) {
	options := []kgo.Opt{
		kgo.DefaultProduceTopic(o.Topic),
		kgo.AllowAutoTopicCreation(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(franzCodecs[o.Codec]),
		kgo.ProducerBatchMaxBytes(16 << 20), // so that the broker's limit is met first
		kgo.RequiredAcks(franzAcks[o.Acks]),
	}
	if o.Acks != -1 {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	cl, err := f.client(o, options...)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	records := make([]*kgo.Record, len(o.Records))
	for i, each := range o.Records {
		records[i] = toFranz(each)
	}
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, err
	}
	offsets := make([]int64, len(records))
	for i, each := range records {
		offsets[i] = each.Offset
	}
	return offsets, nil
}

func (f franz) consume(ctx context.Context, o order) ([]record, error) {
	isolation := kgo.ReadUncommitted()
	if o.ReadCommitted {
		isolation = kgo.ReadCommitted()
	}
	cl, err := f.client(o,
		kgo.ConsumeTopics(o.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(isolation),
	)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	var records []record
	for len(records) < o.Count {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(each *kgo.Record) { records = append(records, fromFranz(each)) })
	}
	return records, nil
}

func (f franz) join(ctx context.Context, o order, received func(string)) (func(), error) {
	options := []kgo.Opt{
		kgo.ConsumerGroup(o.Group),
		kgo.ConsumeTopics(o.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.HeartbeatInterval(200 * time.Millisecond),
		kgo.FetchMaxWait(200 * time.Millisecond),
	}
	if o.Protocol == "consumer" {
		options = append(options, kgo.ServerSideBalancer())
	}
	cl, err := f.client(o, options...)
	if err != nil {
		return nil, err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			fetches := cl.PollFetches(ctx)
			if fetches.IsClientClosed() || ctx.Err() != nil {
				return
			}
			fetches.EachRecord(func(each *kgo.Record) { received(string(each.Value)) })
		}
	}()
	return func() { cl.Close(); <-gone }, nil
}

func (f franz) copy(ctx context.Context, o order) (committed, aborted int, err error) {
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(o.Bootstrap),
		kgo.TransactionalID(o.TransactionalID),
		kgo.DefaultProduceTopic(o.To),
		kgo.ConsumerGroup(o.Group),
		kgo.ConsumeTopics(o.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	)
	if err != nil {
		return 0, 0, err
	}
	defer session.Close()
	for copied, round := 0, 1; copied < o.Count; round++ {
		fetches := session.PollRecords(ctx, 10)
		if err := fetches.Err(); err != nil {
			return committed, aborted, err
		}
		if err := session.Begin(); err != nil {
			return committed, aborted, err
		}
		sent := kgo.AbortingFirstErrPromise(session.Client())
		fetches.EachRecord(func(each *kgo.Record) {
			session.Produce(ctx, kgo.StringRecord("copy of "+string(each.Value)), sent.Promise())
		})
		// Flushed, so that there is something to abort.
		if err := errors.Join(session.Client().Flush(ctx), sent.Err()); err != nil {
			return committed, aborted, err
		}
		end := kgo.TryCommit
		if round%o.AbortEvery == 0 {
			end = kgo.TryAbort
		}
		ok, err := session.End(ctx, end)
		if err != nil {
			return committed, aborted, err
		}
		if ok {
			committed++
			copied += fetches.NumRecords()
		} else {
			aborted++
		}
	}
	return committed, aborted, nil
}

func (f franz) admin(ctx context.Context, o order) (map[string]any, error) {
	cl, err := f.client(o)
	if err != nil {
		return nil, err
	}
	admin := kadm.NewClient(cl)
	defer admin.Close()
	found := map[string]any{}
	retention := "1000"
	if _, err := admin.CreateTopic(ctx, 2, 1, map[string]*string{"retention.ms": &retention}, o.Topic); err != nil {
		return nil, err
	}
	_, err = admin.CreateTopic(ctx, 2, 1, nil, o.Topic)
	found["created_again"] = f.errorCode(err)
	grown, err := admin.UpdatePartitions(ctx, 5, o.Topic)
	if err = errors.Join(err, grown.Error()); err != nil {
		return nil, err
	}
	uncached := kadm.WithAuthorizedOps(ctx) // what has these is asked for each time
	topics, err := admin.ListTopics(uncached)
	if err != nil {
		return nil, err
	}
	found["partitions"] = len(topics[o.Topic].Partitions)
	for _, name := range []string{"retention_before", "retention_after"} {
		configs, err := admin.DescribeTopicConfigs(ctx, o.Topic)
		if err != nil {
			return nil, err
		}
		for _, config := range configs[0].Configs {
			if config.Key == "retention.ms" {
				found[name] = config.MaybeValue()
			}
		}
		raised := "2000"
		altered, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Name: "retention.ms", Value: &raised}}, o.Topic)
		if err = errors.Join(err, altered[0].Err); err != nil {
			return nil, err
		}
	}
	groups, err := admin.DescribeGroups(ctx, o.Group)
	if err != nil {
		return nil, err
	}
	found["group_state"] = groups[o.Group].State
	if _, err := admin.DeleteTopic(ctx, o.Topic); err != nil {
		return nil, err
	}
	if topics, err = admin.ListTopics(uncached); err != nil {
		return nil, err
	}
	found["deleted"] = !topics.Has(o.Topic)
	return found, nil
}

func (franz) errorCode(err error) int16 {
	var coded *kerr.Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return 0
}

func toFranz(r record) *kgo.Record {
	made := &kgo.Record{Partition: r.Partition, Timestamp: time.UnixMilli(r.Timestamp)}
	if r.Key != nil {
		made.Key = []byte(*r.Key)
	}
	if r.Value != nil {
		made.Value = []byte(*r.Value)
	}
	for _, header := range r.Headers {
		made.Headers = append(made.Headers, kgo.RecordHeader{Key: header[0], Value: []byte(header[1])})
	}
	return made
}

func fromFranz(r *kgo.Record) record {
	made := record{
		Partition: r.Partition,
		Offset:    r.Offset,
		Key:       text(r.Key),
		Value:     text(r.Value),
		Headers:   [][2]string{},
		Timestamp: r.Timestamp.UnixMilli(),
	}
	for _, header := range r.Headers {
		made.Headers = append(made.Headers, [2]string{header.Key, string(header.Value)})
	}
	return made
}

func text(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}
