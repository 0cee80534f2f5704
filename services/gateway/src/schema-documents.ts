// The published schemas as they stand in the registry: fixed paths, exact bytes, never changed once out.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import registry from '@baton/schemas/registry.json' with { type: 'json' }

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

const FOLDER = new URL('.', import.meta.resolve('@baton/schemas/registry.json'))

/** Reads the registry and every document it lists. */
export function readSchemaDocuments(): SchemaDocuments {
  return {
    registry: readDocument('registry.json'),
    byPath: new Map(registry.map(({ path }) => [path, readDocument(path)])),
  }
}

function readDocument(path: string): SchemaDocument {
  const bytes = readFileSync(new URL(path, FOLDER))
  return { path, bytes, etag: `"${hash('sha256', bytes, 'hex')}"` }
}
