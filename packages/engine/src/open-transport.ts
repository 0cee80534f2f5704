// The queue that a process is told to use.
import type { Logger } from '@baton/runtime'
import type { Transport } from '@baton/transport'
import { createInProcessTransport } from '@baton/transport/in-process'

interface QueueValues {
  readonly BATON_REDIS_URL: string | undefined
  readonly BATON_QUEUE_PREFIX: string
}

/** Redis where a URL is given, whose client is loaded only then; otherwise the queue inside this process. */
export async function openTransport(settings: QueueValues, logger: Logger): Promise<Transport> {
  const { BATON_REDIS_URL: redisUrl, BATON_QUEUE_PREFIX: prefix } = settings
  if (redisUrl === undefined) return createInProcessTransport({ logger })
  const { createRedisTransport } = await import('@baton/transport')
  return createRedisTransport({ url: redisUrl, prefix, logger })
}
