// Shows when what this gateway accepts comes to an end: API keys with a last day.
import type { Metrics } from '@baton/telemetry'
import type { ApiKey } from './api-keys.ts'

type Ends = Pick<Metrics, 'expiryTimestampSeconds'>

/** Keys without a last day are left out. */
export function showKeyEnds(apiKeys: ReadonlyMap<string, ApiKey>, metrics: Ends): void {
  for (const { id, expiresAtMs } of apiKeys.values()) {
    if (expiresAtMs === undefined) continue
    metrics.expiryTimestampSeconds.with({ kind: 'api_key', name: id }).set(expiresAtMs / 1_000)
  }
}
