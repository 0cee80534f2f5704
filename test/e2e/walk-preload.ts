// Loaded into a process before its own code: at each SIGUSR2 writes which functions ran since the last one.
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import type { Profiler } from 'node:inspector'
import { join } from 'node:path'

/** A function that ran, as `file URL#offset of its first character`, and how often. */
export type Calls = Readonly<Record<string, number>>

const folder = process.env['BATON_WALK_FOLDER'] ?? ''
let written = 0

function callsOf(scripts: readonly Profiler.ScriptCoverage[]): Calls {
  const calls: Record<string, number> = {}
  for (const { url, functions } of scripts) {
    if (!url.startsWith('file:') || url.includes('/node_modules/')) continue
    for (const { ranges } of functions) {
      const [whole] = ranges
      if (whole !== undefined && whole.count > 0) calls[`${url}#${whole.startOffset}`] = whole.count
    }
  }
  return calls
}

function write(calls: Calls): void {
  written += 1
  const path = join(folder, `${process.pid}.${written}.json`)
  writeFileSync(`${path}.new`, JSON.stringify(calls))
  renameSync(`${path}.new`, path)
}

if (folder !== '') {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  process.on('SIGUSR2', () => {
    session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error === null) write(callsOf(result))
    })
  })
}
