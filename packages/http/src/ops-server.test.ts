// The operations server tells health, readiness and metrics, and nothing else.
import { afterEach, describe, expect, it } from 'vitest'
import { createMetrics } from '@baton/telemetry'
import { startOpsServer } from './ops-server.ts'
import type { OpsServer, OpsServerOptions } from './ops-server.ts'

describe('operations server', () => {
  let server: OpsServer | undefined

  afterEach(() => server?.close())

  async function ask(
    path: string,
    { ready = () => true, ...request }: Partial<Pick<OpsServerOptions, 'ready'>> & RequestInit = {},
  ): Promise<Response> {
    server = await startOpsServer({ port: 0, metrics: createMetrics(), ready })
    return fetch(`http://127.0.0.1:${server.port}${path}`, request)
  }

  it('serves metrics as plain text, and as OpenMetrics on request', async () => {
    const plain = await ask('/metrics?x=1')
    expect(plain.status).toBe(200)
    expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(plain.headers.get('vary')).toBe('accept')
    const headers = { accept: 'application/openmetrics-text' }
    const open = await fetch(plain.url, { headers })
    expect(open.headers.get('content-type')).toContain('application/openmetrics-text')
    expect(await open.text()).toMatch(/# EOF\n$/)
  })

  it('is alive while it answers', async () => {
    const response = await ask('/healthz', { ready: () => false })
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
  })

  const answers: readonly (readonly [string, OpsServerOptions['ready'], number])[] = [
    ['yes', () => true, 200],
    ['later yes', async () => true, 200],
    ['no', () => false, 503],
    ['an error', () => Promise.reject(new Error('database down')), 503],
  ]
  it.each(answers)('is ready when the process says so: %s', async (_, ready, status) => {
    const response = await ask('/readyz', { ready })
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null)
    expect(await response.text()).not.toContain('database')
  })

  it('refuses other paths and methods with a problem document', async () => {
    const missing = await ask('/secrets')
    expect(missing.status).toBe(404)
    expect(missing.headers.get('content-type')).toBe('application/problem+json')
    const posted = await fetch(missing.url.replace('/secrets', '/metrics'), { method: 'POST' })
    expect(posted.status).toBe(405)
    expect(posted.headers.get('allow')).toBe('GET, HEAD')
  })

  it('answers HEAD without a body', async () => {
    const response = await ask('/metrics', { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  })

  it('says which address it could not have', async () => {
    await ask('/healthz')
    const port = server?.port ?? 0
    await expect(
      startOpsServer({ port, metrics: createMetrics(), ready: () => true }),
    ).rejects.toMatchObject({
      code: 'BATON_OPS_LISTEN_FAILED',
      message: expect.stringContaining(`${port}`),
    })
  })
})
