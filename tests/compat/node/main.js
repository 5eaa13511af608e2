// KafkaJS, as the tests drive it: reads one order a line, a JSON object, and answers each with one
// line. What is right is for the tests to say. The orders are those of ../go/main.go.
'use strict'

const readline = require('node:readline')
const zlib = require('node:zlib')
const { setTimeout: sleep } = require('node:timers/promises')
const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = require('kafkajs')
const lz4 = require('lz4-napi')
const snappy = require('snappyjs')

// KafkaJS knows gzip; the others are plugged in as its documentation shows.
CompressionCodecs[CompressionTypes.Snappy] = () => ({
  compress: async (encoder) => snappy.compress(encoder.buffer),
  decompress: async (buffer) => unframed(buffer),
})
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: (encoder) => lz4.compressFrame(encoder.buffer),
  decompress: (buffer) => lz4.decompressFrame(buffer),
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async (encoder) => zlib.zstdCompressSync(encoder.buffer),
  decompress: async (buffer) => zlib.zstdDecompressSync(buffer),
})

const CODECS = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}
const ORDER_TIMEOUT_MS = 60_000

function kafka(order) {
  const retry = { retries: 3, initialRetryTime: 50 }
  return new Kafka({ brokers: [order.bootstrap], logLevel: logLevel.NOTHING, retry })
}

async function withConnected(client, use) {
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.disconnect()
  }
}

async function produce(order) {
  const producer = kafka(order).producer({ idempotent: order.acks === -1 })
  return withConnected(producer, async () => ({ offsets: await send(producer, order, order.records) }))
}

async function send(producer, order, records) {
  const messages = records.map((each) => ({
    ...each,
    timestamp: String(each.timestamp),
    headers: Object.fromEntries(each.headers),
  }))
  const { topic, acks } = order
  const results = await producer.send({ topic, acks, compression: CODECS[order.codec], messages })
  // A result is of a partition: the offset of its first message.
  const next = new Map(results.map((each) => [each.partition, Number(each.baseOffset)]))
  return records.map(({ partition }) => {
    const offset = next.get(partition) ?? -1
    next.set(partition, offset + 1)
    return offset
  })
}

async function consume(order) {
  const group = `consuming-${order.topic}-${Date.now()}`
  const readUncommitted = !order.read_committed
  const consumer = kafka(order).consumer({ groupId: group, readUncommitted, maxWaitTimeInMs: 200 })
  return withConnected(consumer, async () => {
    const records = []
    await consumer.subscribe({ topics: [order.topic], fromBeginning: true })
    await new Promise((done, fail) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => fail(payload.error))
      consumer
        .run({
          eachMessage: async ({ partition, message }) => {
            records.push(fromMessage(partition, message))
            if (records.length === order.count) done()
          },
        })
        .catch(fail)
    })
    return { records }
  })
}

async function join(order, onValue) {
  const settings = {
    groupId: order.group,
    heartbeatInterval: 200,
    rebalanceTimeout: 5_000,
    maxWaitTimeInMs: 200,
  }
  const consumer = kafka(order).consumer(settings)
  await consumer.connect()
  await consumer.subscribe({ topics: [order.topic], fromBeginning: true })
  await consumer.run({
    autoCommitThreshold: 1,
    eachMessage: async ({ message }) => onValue(message.value.toString()),
  })
  return () => consumer.disconnect()
}

// Produces value after value while three members of a group come and the first of them goes: the
// next step is taken when the newest member has received its share.
async function share(order) {
  const shareOf = 10
  const members = [[], [], []]
  const seen = new Set()
  const leaves = []
  let sent = 0
  return withConnected(kafka(order).producer(), async (producer) => {
    const produceUntil = async (done) => {
      for (; !done(); sent++) {
        const partition = sent % order.partitions
        await producer.send({ topic: order.topic, messages: [{ partition, value: `value ${sent}` }] })
      }
    }
    for (const received of members) {
      const onValue = (value) => {
        received.push(value)
        seen.add(value)
      }
      leaves.push(await join(order, onValue))
      await produceUntil(() => received.length >= shareOf)
    }
    await leaves[0]()
    const last = sent + shareOf
    await produceUntil(() => sent === last)
    while (seen.size < sent) await sleep(10)
    await Promise.all(leaves.slice(1).map((leave) => leave()))
    return { sent, members }
  })
}

async function copy(order) {
  const client = kafka(order)
  const producer = client.producer({
    transactionalId: order.transactional_id,
    idempotent: true,
    maxInFlightRequests: 1,
  })
  const consumer = client.consumer({ groupId: order.group, readUncommitted: false, maxWaitTimeInMs: 200 })
  const counts = { committed: 0, aborted: 0 }
  return withConnected(producer, () =>
    withConnected(consumer, async () => {
      await consumer.subscribe({ topics: [order.topic], fromBeginning: true })
      let copied = 0
      await new Promise((done, fail) => {
        const eachBatch = async ({ batch, resolveOffset }) => {
          for (let start = 0; start < batch.messages.length; start += 10) {
            const messages = batch.messages.slice(start, start + 10)
            while (!(await transact(order, producer, batch, messages, counts)));
            resolveOffset(messages.at(-1).offset)
            copied += messages.length
          }
          if (copied >= order.count) done()
        }
        const run = async (argument) => eachBatch(argument).catch(fail)
        consumer.run({ autoCommit: false, eachBatch: run }).catch(fail)
      })
      return counts
    }),
  )
}

async function transact(order, producer, batch, messages, counts) {
  const transaction = await producer.transaction()
  const copies = messages.map(({ value }) => ({ value: `copy of ${value}` }))
  await transaction.send({ topic: order.to, messages: copies })
  const offset = String(Number(messages.at(-1).offset) + 1)
  const partitions = [{ partition: batch.partition, offset }]
  const topics = [{ topic: batch.topic, partitions }]
  await transaction.sendOffsets({ consumerGroupId: order.group, topics })
  const round = counts.committed + counts.aborted + 1
  if (round % order.abort_every === 0) {
    await transaction.abort()
    counts.aborted += 1
    return false
  }
  await transaction.commit()
  counts.committed += 1
  return true
}

async function admin(order) {
  return withConnected(kafka(order).admin(), async (client) => {
    const { topic } = order
    const configEntries = [{ name: 'retention.ms', value: '1000' }]
    const topics = [{ topic, numPartitions: 2, replicationFactor: 1, configEntries }]
    await client.createTopics({ topics, waitForLeaders: false })
    // KafkaJS tells "it is there already" by answering false.
    const created_again = (await client.createTopics({ topics })) ? 0 : 36
    await client.createPartitions({ topicPartitions: [{ topic, count: 5 }] })
    const described = await client.fetchTopicMetadata({ topics: [topic] })
    const retention = async () => {
      const resources = [{ type: 2, name: topic, configNames: ['retention.ms'] }]
      const configs = await client.describeConfigs({ resources })
      return configs.resources[0].configEntries[0].configValue
    }
    const retention_before = await retention()
    const raised = [{ name: 'retention.ms', value: '2000' }]
    await client.alterConfigs({ resources: [{ type: 2, name: topic, configEntries: raised }] })
    const retention_after = await retention()
    const groups = await client.describeGroups([order.group])
    await client.deleteTopics({ topics: [topic] })
    return {
      created_again,
      partitions: described.topics[0].partitions.length,
      retention_before,
      retention_after,
      group_state: groups.groups[0].state,
      deleted: !(await client.listTopics()).includes(topic),
    }
  })
}

function fromMessage(partition, { offset, key, value, headers, timestamp }) {
  return {
    partition,
    offset: Number(offset),
    key: key?.toString() ?? null,
    value: value?.toString() ?? null,
    headers: Object.entries(headers).map(([name, text]) => [name, text.toString()]),
    timestamp: Number(timestamp),
  }
}

// Java's clients and others put their own frame around blocks of snappy.
function unframed(buffer) {
  const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])
  if (!buffer.subarray(0, 8).equals(header)) return snappy.uncompress(buffer)
  const blocks = []
  for (let start = 16; start < buffer.length; ) {
    const end = start + 4 + buffer.readUInt32BE(start)
    blocks.push(snappy.uncompress(buffer.subarray(start + 4, end)))
    start = end
  }
  return Buffer.concat(blocks)
}

async function carryOut(line) {
  const order = JSON.parse(line)
  const orders = { produce, consume, share, copy, admin }
  const late = sleep(ORDER_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`${order.do} took too long`)
  })
  try {
    return await Promise.race([orders[order.do](order), late])
  } catch (error) {
    return { failure: String(error), code: error.code ?? error.cause?.code ?? 0 }
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await carryOut(line)))
  }
  process.exit()
}

main()
