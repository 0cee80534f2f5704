// A test run ends: one that has gone silent is ended, and says what it was at, so that nobody waits for what never comes.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

interface Options {
  /** How long nothing at all may be heard of any file; a running test with a longer time limit has that and as much again. */
  readonly silentMs?: number
}

/** Far more than any test here takes: what blocks its process, or never comes out of an import, has no other bound. */
const SILENT_MS = 600_000

/** Kills the processes that run files once nothing is heard of any; vitest then reports their files as failed and ends. */
class StuckReporter implements Reporter {
  private readonly silentMs: number
  private readonly running = new Map<string, { readonly module: TestModule; test?: TestCase }>()
  private heardAt = performance.now()
  private killed = false
  private ended: ReadonlySet<string> = new Set()
  private watch: NodeJS.Timeout | undefined

  constructor({ silentMs = SILENT_MS }: Options = {}) {
    this.silentMs = silentMs
  }

  onTestRunStart(): void {
    this.heard()
    this.watch = setInterval(() => this.look(), Math.min(this.silentMs, 15_000) / 2)
    this.watch.unref()
  }

  onTestModuleQueued(module: TestModule): void {
    this.heard()
    this.running.set(module.id, { module })
  }

  onTestCaseReady(test: TestCase): void {
    this.heard()
    this.running.set(test.module.id, { module: test.module, test })
  }

  onTestCaseResult(test: TestCase): void {
    this.heard()
    this.running.set(test.module.id, { module: test.module })
  }

  onTestModuleEnd(module: TestModule): void {
    this.heard()
    this.running.delete(module.id)
  }

  /** Where nothing failed but what was ended, the file that BATON_TEST_STUCK names lists it: it may be run once more. */
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    clearInterval(this.watch)
    const list = process.env['BATON_TEST_STUCK']
    if (this.ended.size === 0 || list === undefined) return
    const others = modules.filter(
      (module) => !module.ok() && !this.ended.has(module.relativeModuleId),
    )
    const ofWorkers = errors.every(({ message }) => message.startsWith('[vitest-pool]'))
    if (others.length === 0 && ofWorkers) writeFileSync(list, JSON.stringify([...this.ended]))
  }

  private heard(): void {
    this.heardAt = performance.now()
  }

  private look(): void {
    const limits = [...this.running.values()].map(({ test }) => test?.options.timeout ?? 0)
    const silentMsMax = this.silentMs + Math.max(0, ...limits)
    if (performance.now() - this.heardAt < silentMsMax) return
    const processes = descendants()
    process.stderr.write(`\n${this.words(silentMsMax)}\n${processes.join('\n')}\n`)
    // Not even the end of its workers brought the run to its own: there is nobody left to report to.
    if (this.killed) process.exit(1)
    this.killed = true
    this.ended = new Set([...this.running.values()].map(({ module }) => module.relativeModuleId))
    this.heard()
    for (const pid of workersAmong(processes)) process.kill(pid, 'SIGKILL')
  }

  private words(silentMs: number): string {
    const at = [...this.running.values()].map(
      ({ module, test }) =>
        `  ${module.relativeModuleId} › ${test?.fullName ?? '(outside any test)'}`,
    )
    return [
      `testkit: nothing was heard for ${silentMs / 1000} s; the processes of these files are ended:`,
      ...(at.length > 0 ? at : ['  (each file has ended)']),
    ].join('\n')
  }
}

/** Every process that this run started, a line each: its use of a processor tells a loop from a wait. */
function descendants(): string[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,etime=,time=,stat=,args='], {
    encoding: 'utf8',
    timeout: 10_000,
  })
  const family = new Set([process.pid])
  const found: string[] = []
  // Whoever was started later comes later, but for the rare number that is used again.
  for (const line of stdout.split('\n')) {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/, 2).map(Number)
    if (!family.has(parent)) continue
    family.add(pid)
    found.push(line)
  }
  return found
}

/** Children that run test files; the servers of the run are children as well, and stay. */
function workersAmong(processes: readonly string[]): number[] {
  return processes.flatMap((line) => {
    const [, pid, parent] = /^\s*(\d+)\s+(\d+) .*vitest.*dist\/workers\/forks\.js/.exec(line) ?? []
    return Number(parent) === process.pid ? [Number(pid)] : []
  })
}

export default StuckReporter
