// Whether the auditor takes records is shown as its client says it.
import { createLogger } from '@baton/runtime'
import { createMetrics } from '@baton/telemetry'
import { expect, it } from 'vitest'
import { createEventShipper } from './record-audit.ts'

it('shows an open breaker until calls are answered again', async () => {
  const metrics = createMetrics()
  let tell: (blocked: boolean) => void = () => undefined
  const client = { onBlocked: (listener: typeof tell) => (tell = listener) }
  const logger = createLogger({ service: 'test', level: 'fatal' })
  createEventShipper({ pool: undefined as never, client: client as never, metrics, logger })
  const shown = async () =>
    /^baton_breaker_open\{target="auditor"\} (\d)$/m.exec((await metrics.expose()).body)?.[1]
  expect(await shown()).toBe('0')
  tell(true)
  expect(await shown()).toBe('1')
  tell(false)
  expect(await shown()).toBe('0')
})
