// What comes to an end is shown with its end; what has none is not shown.
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCertificate } from '@baton/http/fixtures/test-certificate'
import { createMetrics } from '@baton/telemetry'
import { expect, it } from 'vitest'
import { createApiKey, parseApiKeys } from './api-keys.ts'
import { showCertificateEnd, showKeyEnds } from './expiries.ts'

it('shows the last day of API keys and of the certificate', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-expiries-'))
  const certificatePath = join(folder, 'cert.pem')
  const { certificate } = createTestCertificate('127.0.0.1')
  writeFileSync(certificatePath, certificate)
  const ending = createApiKey({ scopes: 'handoffs:send', expires: '2030-01-01' }).entry
  const lasting = createApiKey({ scopes: 'handoffs:send' }).entry
  const metrics = createMetrics()
  showKeyEnds(parseApiKeys(`${ending},${lasting}`), metrics)
  showCertificateEnd(certificatePath, 'sw4rm', metrics)
  rmSync(folder, { recursive: true })
  const { body } = await metrics.expose()
  const end = new X509Certificate(certificate).validToDate.getTime() / 1_000
  expect(body.match(/^baton_expiry_timestamp_seconds.*$/gm)).toEqual([
    `baton_expiry_timestamp_seconds{kind="api_key",name="${ending.split(':')[0]}"} ${Date.UTC(2030, 0, 1) / 1_000}`,
    `baton_expiry_timestamp_seconds{kind="certificate",name="sw4rm"} ${end}`,
  ])
})
