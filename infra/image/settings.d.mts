// Types of settings.mjs, which stays plain JavaScript so that a health check does not wait for a compiler.
export const PROCESSES: ReadonlySet<string>
export const NEEDED: readonly string[]
export function readContainerSettings(name: string): void
export function runningName(): string | undefined
