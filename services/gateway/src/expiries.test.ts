// What comes to an end is shown with its end; what has none is not shown.
import { createMetrics } from '@baton/telemetry'
import { expect, it } from 'vitest'
import { createApiKey, parseApiKeys } from './api-keys.ts'
import { showKeyEnds } from './expiries.ts'

it('shows the last day of API keys', async () => {
  const ending = createApiKey({ scopes: 'handoffs:send', expires: '2030-01-01' }).entry
  const lasting = createApiKey({ scopes: 'handoffs:send' }).entry
  const metrics = createMetrics()
  showKeyEnds(parseApiKeys(`${ending},${lasting}`), metrics)
  const { body } = await metrics.expose()
  expect(body.match(/^baton_expiry_timestamp_seconds.*$/gm)).toEqual([
    `baton_expiry_timestamp_seconds{kind="api_key",name="${ending.split(':')[0]}"} ${Date.UTC(2030, 0, 1) / 1_000}`,
  ])
})
