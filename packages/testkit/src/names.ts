// Names that no other test uses.
import { randomUUID } from 'node:crypto'

/** A database name of its own for a test, at most 63 characters, for example `test_store_1f0c93a2b4d5`. */
export function uniqueDatabaseName(purpose: string): string {
  return uniqueName(purpose).replaceAll('-', '_')
}

/** A name of its own for a queue or a key prefix, for example `test-relay-1f0c93a2b4d5`. */
export function uniqueName(purpose: string): string {
  const suffix = randomUUID().replaceAll('-', '').slice(0, 12)
  return `test-${purpose
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)}-${suffix}`
}
