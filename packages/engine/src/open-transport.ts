// The queue that a process is told to use.
import type { Logger, Tls } from '@baton/runtime'
import type { Transport } from '@baton/transport'
import { createInProcessTransport } from '@baton/transport/in-process'

interface TransportOptions {
  /** `redis://` or `rediss://`. */
  readonly redisUrl?: string | undefined
  /** What is trusted and shown behind `rediss://`. */
  readonly tls?: Tls | undefined
  /** What the names of keys in Redis begin with: the same for everybody who shares queues; `baton` by default. */
  readonly prefix?: string
  readonly logger: Logger
}

/** Redis where a URL is given, whose client is loaded only then; otherwise the queue inside this process. */
export async function openTransport({
  redisUrl,
  tls,
  prefix = 'baton',
  logger,
}: TransportOptions): Promise<Transport> {
  if (redisUrl === undefined) return createInProcessTransport({ logger })
  const { createRedisTransport } = await import('@baton/transport')
  return createRedisTransport({ url: redisUrl, tls, prefix, logger })
}
