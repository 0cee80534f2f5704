// A place in the system that a process fills: whatever ends it, another one is started, as a supervisor does.
import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import type { ProcessControl } from './process-preload.ts'

/** What a slot needs of a process, in a container or not. */
export interface SlotProcess extends Pick<
  ServiceProcess,
  'output' | 'write' | 'exited' | 'kill' | 'stop'
> {
  /** Rejects where it cannot be told; what has ended needs not to be. */
  signal(name: NodeJS.Signals): void | Promise<void>
}

export interface Slot {
  readonly name: string
  /** The service it runs, for example `receiver`. */
  readonly service: string
  /** Rejects where it cannot be told. */
  signal(name: NodeJS.Signals): Promise<void>
  /** Ends the process of now; the supervisor starts another after `downMs`. */
  kill(downMs: number): Promise<void>
  /** Drains it (SIGTERM) and waits for its next one to be ready. */
  replace(): Promise<void>
  /** Shifts its clock or blocks its event loop. */
  control(change: Partial<ProcessControl>): void
  ready(): boolean
  /** How its processes ended that no fault ended, for example `receiver-1: code 1`. */
  readonly surprises: readonly string[]
  end(): Promise<void>
}

interface SlotOptions {
  readonly name: string
  readonly service: string
  /** Where its log and its control file stand. */
  readonly folder: string
  spawn(controlFile: string): Promise<SlotProcess>
  /** What says that it works; by default the line `ready`. */
  readonly readyLine?: RegExp
}

const RESTART_MS = 250
const START_MAX_MS = 60_000
const TRUE_CLOCK: ProcessControl = { offsetMs: 0, rate: 1, blockMs: 0, blockId: 0 }

export function startSlot(options: SlotOptions): Slot {
  const { name, service, folder, readyLine = /^ready$/m } = options
  const controlFile = join(folder, `control-${name}.json`)
  const surprises: string[] = []
  let control = TRUE_CLOCK
  let current: SlotProcess | undefined
  let downMs = RESTART_MS
  let meant = false
  let ended = false

  async function live(): Promise<void> {
    while (!ended) {
      const process = await options.spawn(controlFile)
      if (ended) return await process.kill()
      current = process
      const { code, signal } = await process.exited(Infinity)
      current = undefined
      appendFileSync(join(folder, `${name}.log`), `${process.output()}--- ${code ?? signal}\n`)
      if (!meant && !ended) surprises.push(`${name}: ${signal ?? `code ${code}`}`)
      meant = false
      if (!ended) await new Promise((resolve) => setTimeout(resolve, downMs))
      downMs = RESTART_MS
    }
  }

  const living = live()
  const isReady = (): boolean => current !== undefined && readyLine.test(current.output())
  return {
    name,
    service,
    surprises,
    async signal(wanted) {
      if (wanted !== 'SIGSTOP' && wanted !== 'SIGCONT') meant = true
      await current?.signal(wanted)
    },
    async kill(restartMs) {
      const doomed = current
      downMs = restartMs
      meant = true
      await doomed?.kill()
      // The supervisor sees it a moment later.
      if (current === doomed) current = undefined
    },
    async replace() {
      const before = current
      meant = true
      await before?.stop()
      await eventually(() => ended || (current !== before && isReady()), {
        deadlineMs: START_MAX_MS,
        describe: `${name} is ready again`,
      })
    },
    control(change) {
      control = { ...control, ...change }
      writeFileSync(`${controlFile}.new`, `${JSON.stringify(control)}\n`)
      renameSync(`${controlFile}.new`, controlFile)
    },
    ready: isReady,
    async end() {
      ended = true
      await current?.signal('SIGCONT')
      await current?.kill()
      await living
    },
  }
}
