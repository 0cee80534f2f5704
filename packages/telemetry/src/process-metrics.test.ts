// A process says what it is and how it does, in names that Prometheus' own linter accepts.
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'
import { measureProcess } from './process-metrics.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const metrics = createMetrics()
measureProcess(metrics, 'relay')

describe('a measured process', () => {
  it('shows its version, processor time, memory and event loop', async () => {
    const { body } = await metrics.expose()
    expect(body).toMatch(/^baton_build_info\{version="\d+\.\d+\.\d+",service="relay"\} 1$/m)
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(body).toMatch(new RegExp(`^${name} \\d`, 'm'))
    }
  })

  it.skipIf(!hasPromtool)(
    'passes promtool check metrics (skipped where it is not installed)',
    async () => {
      const { body } = await metrics.expose()
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: body,
        encoding: 'utf8',
      })
      expect(`${stdout}${stderr}`).toBe('')
      expect(status).toBe(0)
    },
  )
})
