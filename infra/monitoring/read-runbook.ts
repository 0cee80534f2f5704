// Reads the runbook of an alert by the name that its link ends with, and no other file.
import { readFile } from 'node:fs/promises'
import { ALERTS, runbookOf } from '@baton/telemetry'

const FOLDER = new URL('../runbooks/', import.meta.url)
const NAMES: ReadonlySet<string> = new Set(ALERTS.map((alert) => `${runbookOf(alert)}.md`))

/** The page in Markdown; undefined where no alert has a runbook of this name. */
export async function readRunbook(name: string): Promise<string | undefined> {
  return NAMES.has(name) ? readFile(new URL(name, FOLDER), 'utf8') : undefined
}
