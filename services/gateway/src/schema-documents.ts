// The published schemas as they stand in the registry: fixed paths, exact bytes, never changed once out.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export interface SchemaDocument {
  /** Path below /schemas/, for example handoff/2.1.json. */
  readonly path: string
  readonly bytes: Buffer
  /** Strong entity tag, in quotes. */
  readonly etag: string
}

export interface SchemaDocuments {
  readonly registry: SchemaDocument
  readonly byPath: ReadonlyMap<string, SchemaDocument>
}

const REGISTRY = createRequire(import.meta.url).resolve('@baton/schemas/registry.json')

/** Reads the registry and every document it lists. */
export function readSchemaDocuments(): SchemaDocuments {
  const registry = readDocument('registry.json')
  const listed = JSON.parse(registry.bytes.toString()) as readonly { path: string }[]
  return { registry, byPath: new Map(listed.map(({ path }) => [path, readDocument(path)])) }
}

function readDocument(path: string): SchemaDocument {
  const bytes = readFileSync(join(dirname(REGISTRY), path))
  return { path, bytes, etag: `"${hash('sha256', bytes, 'hex')}"` }
}
