// The services of a game day's instance, each of which may be stopped, frozen, killed and started again with other settings.
import { startService } from '../instance/services.ts'
import type { ChildService } from '@baton/embedded'
import type { Environment } from '../context.ts'

export interface Services {
  /** What it is told when nothing is broken. */
  settingOf(name: string, setting: string): string
  /** Lets it drain. */
  stop(name: string): Promise<void>
  /** Stops it first where it runs. Resolves when it is ready. */
  start(name: string, changed?: Environment): Promise<void>
  /** Starts a second one of the same service, with a port of its own for metrics. */
  twin(name: string): Promise<void>
  /** Ends it at once, as a crash does. */
  kill(name: string): Promise<void>
  /** It is there and answers nothing. */
  freeze(name: string): void
  thaw(name: string): void
  stopAll(): Promise<void>
}

/** Stopped last, and in this order: those who drain still need their receipts and seals. */
const LAST = ['auditor', 'sealer', 'archiver', 'witness']

export async function startServicesOfDay(
  settings: ReadonlyMap<string, Environment>,
  home: string,
): Promise<Services> {
  const running = new Map<string, ChildService>()
  const frozen = new Set<string>()

  async function start(name: string, changed: Environment = {}): Promise<void> {
    await stop(name)
    const service = startService(name, { ...settings.get(name), ...changed }, home)
    running.set(name, service)
    await service.ready
  }

  function signal(name: string, signal: NodeJS.Signals): void {
    const service = running.get(name)
    if (service !== undefined) process.kill(service.pid, signal)
  }

  function thaw(name: string): void {
    if (frozen.delete(name)) signal(name, 'SIGCONT')
  }

  async function stop(name: string): Promise<void> {
    thaw(name)
    await running.get(name)?.stop()
    running.delete(name)
  }

  async function stopAll(): Promise<void> {
    const others = [...running.keys()].filter((name) => !LAST.includes(name))
    await Promise.all(others.map(stop))
    for (const name of LAST) await stop(name)
  }

  const services: Services = {
    settingOf: (name, setting) => settings.get(name)?.[setting] ?? '',
    stop,
    start,
    async twin(name) {
      const twin = startService(name, { ...settings.get(name), BATON_OPS_PORT: '0' }, home)
      running.set(`${name}, its twin`, twin)
      await twin.ready
    },
    async kill(name) {
      const service = running.get(name)
      running.delete(name)
      if (service === undefined) return
      process.kill(service.pid, 'SIGKILL')
      await service.stop()
    },
    freeze(name) {
      frozen.add(name)
      signal(name, 'SIGSTOP')
    },
    thaw,
    stopAll,
  }
  try {
    await Promise.all([...settings.keys()].map((name) => start(name)))
    return services
  } catch (error) {
    await stopAll()
    throw error
  }
}
