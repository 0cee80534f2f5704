// How work is announced from relay to receiver; each transport passes the same contract suite.
export { isPointer, jobIdOf } from './transport.ts'
export type {
  ConsumeOptions,
  Consumer,
  Job,
  JobReference,
  NextWatermark,
  Pointer,
  Priority,
  QueueWatermark,
  QueueWatermarks,
  Transport,
} from './transport.ts'
export { queueNameOf } from './bullmq-queues.ts'
export { startBullmqConsumer } from './bullmq-consumer.ts'
export type { WorkerBackend } from './bullmq-consumer.ts'
export { createInProcessTransport } from './in-process-transport.ts'
export type { InProcessTransportOptions } from './in-process-transport.ts'
export { createRedisTransport } from './redis-transport.ts'
export type { RedisTransportOptions } from './redis-transport.ts'
export { checkRedisSafety, judgeRedis, requireSafeRedis } from './redis-safety.ts'
export type { RedisFacts, RedisFinding } from './redis-safety.ts'
