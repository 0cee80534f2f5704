// How work is announced from relay to receiver; each transport passes the same contract suite.
export { jobIdOf } from './transport.ts'
export type {
  ConsumeOptions,
  Consumer,
  Job,
  Pointer,
  Priority,
  QueueWatermarks,
  Transport,
} from './transport.ts'
export { queueNameOf } from './bullmq-queues.ts'
export { startBullmqConsumer } from './bullmq-consumer.ts'
export type { WorkerBackend } from './bullmq-consumer.ts'
export { createInProcessTransport } from './in-process-transport.ts'
export { createRedisTransport } from './redis-transport.ts'
export { checkRedisSafety, requireSafeRedis } from './redis-safety.ts'
