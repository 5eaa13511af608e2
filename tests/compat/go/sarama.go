package main

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"
)

type saramaClient struct{}

var saramaCodecs = map[string]sarama.CompressionCodec{
	"none":   sarama.CompressionNone,
	"gzip":   sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy,
	"lz4":    sarama.CompressionLZ4,
	"zstd":   sarama.CompressionZSTD,
}

func saramaConfig() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Producer.Return.Successes = true
	config.Producer.MaxMessageBytes = 16 << 20 // so that the broker's limit is met first
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	config.Consumer.MaxWaitTime = 200 * time.Millisecond
	return config
}

func idempotent(config *sarama.Config) {
	config.Producer.Idempotent = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Net.MaxOpenRequests = 1
}

func (saramaClient) produce(_ context.Context, o order) ([]int64, error) {
	config := saramaConfig()
	config.Producer.Compression = saramaCodecs[o.Codec]
	config.Producer.RequiredAcks = sarama.RequiredAcks(o.Acks)
	if o.Acks == -1 {
		idempotent(config)
	}
	producer, err := sarama.NewSyncProducer([]string{o.Bootstrap}, config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	messages := make([]*sarama.ProducerMessage, len(o.Records))
	for i, each := range o.Records {
		messages[i] = toSarama(o.Topic, each)
	}
	if err := producer.SendMessages(messages); err != nil {
		return nil, err
	}
	offsets := make([]int64, len(messages))
	for i, each := range messages {
		offsets[i] = each.Offset
	}
	return offsets, nil
}

func (saramaClient) consume(ctx context.Context, o order) ([]record, error) {
	config := saramaConfig()
	if o.ReadCommitted {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	consumer, err := sarama.NewConsumer([]string{o.Bootstrap}, config)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	partitions, err := consumer.Partitions(o.Topic)
	if err != nil {
		return nil, err
	}
	messages := make(chan *sarama.ConsumerMessage)
	for _, partition := range partitions {
		one, err := consumer.ConsumePartition(o.Topic, partition, sarama.OffsetOldest)
		if err != nil {
			return nil, err
		}
		defer one.AsyncClose()
		go func() {
			for message := range one.Messages() {
				select {
				case messages <- message:
				case <-ctx.Done():
				}
			}
		}()
	}
	var records []record
	for len(records) < o.Count {
		select {
		case message := <-messages:
			records = append(records, fromSarama(message))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return records, nil
}

// A handler of claims: what a member of a group does with a partition while it is its own.
type handler func(sarama.ConsumerGroupSession, sarama.ConsumerGroupClaim) error

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h handler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	return h(s, c)
}

func (saramaClient) join(ctx context.Context, o order, received func(string)) (func(), error) {
	group, err := sarama.NewConsumerGroup([]string{o.Bootstrap}, o.Group, saramaConfig())
	if err != nil {
		return nil, err
	}
	take := handler(func(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
		for message := range claim.Messages() {
			received(string(message.Value))
			session.MarkMessage(message, "")
		}
		return nil
	})
	ctx, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{o.Topic}, take); errors.Is(err, sarama.ErrClosedConsumerGroup) {
				return
			}
		}
	}()
	return func() { cancel(); <-gone; group.Close() }, nil
}

func (saramaClient) copy(ctx context.Context, o order) (committed, aborted int, err error) {
	config := saramaConfig()
	idempotent(config)
	config.Producer.Transaction.ID = o.TransactionalID
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	config.Consumer.Offsets.AutoCommit.Enable = false
	producer, err := sarama.NewSyncProducer([]string{o.Bootstrap}, config)
	if err != nil {
		return 0, 0, err
	}
	defer producer.Close()
	group, err := sarama.NewConsumerGroup([]string{o.Bootstrap}, o.Group, config)
	if err != nil {
		return 0, 0, err
	}
	defer group.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var batch []*sarama.ConsumerMessage
	copied := 0
	transact := func(round int) error {
		if err := producer.BeginTxn(); err != nil {
			return err
		}
		for _, message := range batch {
			value := sarama.StringEncoder("copy of " + string(message.Value))
			if _, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: o.To, Value: value}); err != nil {
				return err
			}
			if err := producer.AddMessageToTxn(message, o.Group, nil); err != nil {
				return err
			}
		}
		if round%o.AbortEvery == 0 {
			aborted++
			return producer.AbortTxn()
		}
		committed++
		copied += len(batch)
		batch = nil
		return producer.CommitTxn()
	}
	round := 0
	take := handler(func(_ sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
		for message := range claim.Messages() {
			batch = append(batch, message)
			for len(batch) == 10 || copied+len(batch) == o.Count && len(batch) > 0 {
				round++
				if err := transact(round); err != nil {
					return err
				}
			}
			if copied == o.Count {
				cancel()
				return nil
			}
		}
		return nil
	})
	for ctx.Err() == nil {
		if err := group.Consume(ctx, []string{o.Topic}, take); err != nil {
			return committed, aborted, err
		}
	}
	if copied < o.Count {
		return committed, aborted, ctx.Err()
	}
	return committed, aborted, nil
}

func (s saramaClient) admin(_ context.Context, o order) (map[string]any, error) {
	admin, err := sarama.NewClusterAdmin([]string{o.Bootstrap}, saramaConfig())
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	found := map[string]any{}
	retention := "1000"
	detail := &sarama.TopicDetail{
		NumPartitions:     2,
		ReplicationFactor: 1,
		ConfigEntries:     map[string]*string{"retention.ms": &retention},
	}
	if err := admin.CreateTopic(o.Topic, detail, false); err != nil {
		return nil, err
	}
	found["created_again"] = s.errorCode(admin.CreateTopic(o.Topic, detail, false))
	if err := admin.CreatePartitions(o.Topic, 5, nil, false); err != nil {
		return nil, err
	}
	topics, err := admin.ListTopics()
	if err != nil {
		return nil, err
	}
	found["partitions"] = topics[o.Topic].NumPartitions
	for _, name := range []string{"retention_before", "retention_after"} {
		entries, err := admin.DescribeConfig(sarama.ConfigResource{
			Type: sarama.TopicResource, Name: o.Topic, ConfigNames: []string{"retention.ms"},
		})
		if err != nil {
			return nil, err
		}
		found[name] = entries[0].Value
		raised := "2000"
		set := sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &raised}
		changes := map[string]sarama.IncrementalAlterConfigsEntry{"retention.ms": set}
		if err := admin.IncrementalAlterConfig(sarama.TopicResource, o.Topic, changes, false); err != nil {
			return nil, err
		}
	}
	groups, err := admin.DescribeConsumerGroups([]string{o.Group})
	if err != nil {
		return nil, err
	}
	found["group_state"] = groups[0].State
	if err := admin.DeleteTopic(o.Topic); err != nil {
		return nil, err
	}
	if topics, err = admin.ListTopics(); err != nil {
		return nil, err
	}
	_, still := topics[o.Topic]
	found["deleted"] = !still
	return found, nil
}

func (saramaClient) errorCode(err error) int16 {
	var several sarama.ProducerErrors
	if errors.As(err, &several) {
		err = several[0].Err
	}
	var topic *sarama.TopicError
	if errors.As(err, &topic) {
		return int16(topic.Err)
	}
	var coded sarama.KError
	if errors.As(err, &coded) {
		return int16(coded)
	}
	return 0
}

func toSarama(topic string, r record) *sarama.ProducerMessage {
	made := &sarama.ProducerMessage{
		Topic:     topic,
		Partition: r.Partition,
		Timestamp: time.UnixMilli(r.Timestamp),
	}
	if r.Key != nil {
		made.Key = sarama.StringEncoder(*r.Key)
	}
	if r.Value != nil {
		made.Value = sarama.StringEncoder(*r.Value)
	}
	for _, header := range r.Headers {
		made.Headers = append(made.Headers, sarama.RecordHeader{Key: []byte(header[0]), Value: []byte(header[1])})
	}
	return made
}

func fromSarama(m *sarama.ConsumerMessage) record {
	made := record{
		Partition: m.Partition,
		Offset:    m.Offset,
		Key:       text(m.Key),
		Value:     text(m.Value),
		Headers:   [][2]string{},
		Timestamp: m.Timestamp.UnixMilli(),
	}
	for _, header := range m.Headers {
		made.Headers = append(made.Headers, [2]string{string(header.Key), string(header.Value)})
	}
	return made
}
