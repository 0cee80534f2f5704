// The free share of a disk is what the file system says; a folder that is gone keeps no other from being measured.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMetrics } from '@baton/telemetry'
import { expect, it, vi } from 'vitest'
import { createDiskWatch } from './disk-watch.ts'
import { createLogger } from './logger.ts'

it('shows the free share of each folder that is there', async () => {
  const metrics = createMetrics()
  const lines: string[] = []
  const logger = createLogger({
    service: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const folders = { cold: tmpdir(), gone: join(tmpdir(), 'baton-none'), unset: undefined }
  const watch = createDiskWatch({ folders, metrics, logger })
  await watch.start()
  await vi.waitFor(() => expect(lines.join('')).toContain('disk.unmeasured'))
  await watch.stop()
  const { body } = await metrics.expose()
  const shown = [...body.matchAll(/^baton_disk_free_ratio\{folder="(\w+)"\} (\S+)$/gm)]
  expect(shown.map(([, folder]) => folder)).toEqual(['cold'])
  expect(Number(shown[0]?.[2])).toBeGreaterThan(0)
  expect(Number(shown[0]?.[2])).toBeLessThanOrEqual(1)
})
