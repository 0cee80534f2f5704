// Direct calls as processes make them: whether a receiver is called at all is seen in metrics and logs.
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { createDirectCalls } from '@baton/transport/direct-calls'
import type { DirectCalls, DirectCallsOptions } from '@baton/transport/direct-calls'

interface Told {
  readonly metrics: Metrics
  readonly logger: Logger
}

export function openDirectCalls(
  options: Omit<DirectCallsOptions, 'onPaused'>,
  { metrics, logger }: Told,
): DirectCalls {
  const gauge = metrics.breakerOpen.with({ target: 'receiver' })
  const pausedUrls = new Set<string>()
  gauge.set(0)
  return createDirectCalls({
    ...options,
    onPaused(url, paused) {
      if (paused) pausedUrls.add(url)
      else pausedUrls.delete(url)
      gauge.set(pausedUrls.size)
      if (paused) logger.warn({ event: 'sync.paused', url })
      else logger.info({ event: 'sync.resumed', url })
    },
  })
}
