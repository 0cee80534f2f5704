// What a process says of itself: processor time, memory, event loop, garbage collection, version.
import { collectDefaultMetrics } from 'prom-client'
import manifest from '../package.json' with { type: 'json' }
import type { Metrics } from './metrics.ts'

/** Gauges whose names end like a counter's: collectors would take them for one. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/**
 * Measures this process into `metrics` from now on. It watches the event loop for as long as the process
 * lives, so only whoever runs the process may ask for it, once.
 */
export function measureProcess(metrics: Metrics, service: string): void {
  collectDefaultMetrics({ register: metrics.registry })
  for (const name of MISNAMED) metrics.registry.removeSingleMetric(name)
  metrics.buildInfo.with({ version: manifest.version, service }).set(1)
}
