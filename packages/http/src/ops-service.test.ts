// A process's health answers from its start to its stop, and its log says where.
import { createLogger, NO_TLS } from '@baton/runtime'
import { expect, it } from 'vitest'
import { createMetrics } from '@baton/telemetry'
import { createOpsService } from './ops-server.ts'

const settings = {
  BATON_OPS_HOST: '127.0.0.1',
  BATON_OPS_PORT: 0,
  BATON_OPS_TLS_CLIENTS: 'certified' as const,
}

it('serves while it runs, logs its port, and stops twice', async () => {
  const lines: string[] = []
  const destination = { write: (line: string) => lines.push(line) }
  const logger = createLogger({ service: 'test', level: 'info', destination })
  const life = { draining: false }
  const metrics = createMetrics()
  const ops = createOpsService({ settings, life, metrics, logger, tls: NO_TLS, ready: () => true })
  await ops.stop()
  await ops.start()
  const { event, port } = JSON.parse(lines[0] ?? '{}') as { event: string; port: number }
  expect(event).toBe('ops.listening')
  const url = `http://127.0.0.1:${port}/readyz`
  expect((await fetch(url)).status).toBe(200)
  life.draining = true
  expect((await fetch(url)).status).toBe(503)
  await ops.stop()
  await ops.stop()
  await expect(fetch(url)).rejects.toThrow()
})
