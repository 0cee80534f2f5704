// Shows when what this gateway accepts comes to an end: API keys with a last day, and the certificate of its SW4RM port.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
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

/** Of the first certificate in a PEM file, which is the server's own. */
export function showCertificateEnd(path: string, name: string, metrics: Ends): void {
  const { validToDate } = new X509Certificate(readFileSync(path))
  metrics.expiryTimestampSeconds
    .with({ kind: 'certificate', name })
    .set(validToDate.getTime() / 1_000)
}
