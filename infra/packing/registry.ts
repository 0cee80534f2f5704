// A registry of npm on this machine: what was packed here, and every library that this checkout has installed. `npm install` asks it
// as it would ask npmjs.com, and resolves versions, ranges and peers itself; no network is needed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import type { Packed } from './pack.ts'
import { ROOT } from './workspace.ts'

/** Where npm asks for what is not ours. */
export type Source = 'this checkout' | 'npm'

export interface Registry {
  readonly url: string
  close(): Promise<void>
}

interface Offered {
  readonly manifest: object
  /** Writes the tarball. */
  readonly send: (answer: ServerResponse) => void
}

const NPM = 'https://registry.npmjs.org'

export async function openRegistry(packed: readonly Packed[], source: Source): Promise<Registry> {
  const offers = new Map<string, Map<string, Offered>>()
  const offer = ({ name, version }: Named, offered: Offered) => {
    const versions = offers.get(name) ?? new Map<string, Offered>()
    offers.set(name, versions.set(version, offered))
  }
  if (source === 'this checkout')
    for (const folder of installedHere()) {
      const manifest = readNamed(folder)
      if (manifest !== undefined)
        offer(manifest, { manifest, send: (answer) => sendFolder(folder, answer) })
    }
  for (const { manifest, tarball } of packed)
    offer(manifest, {
      manifest,
      send: (answer) => createReadStream(tarball).pipe(answer),
    })
  let url = ''
  const server = createServer((request, answer) => {
    const [name = '', version] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('/-/')
    const versions = offers.get(name)
    const asked = version === undefined ? undefined : versions?.get(version.replace(/\.tgz$/, ''))
    if (asked !== undefined) return asked.send(answer)
    if (versions !== undefined && version === undefined)
      return answer.end(JSON.stringify(documentOf(name, versions, url)))
    if (source === 'npm') return answer.writeHead(307, { location: NPM + request.url }).end()
    return answer.writeHead(404).end('{"error":"not installed in this checkout"}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

interface Named {
  readonly name: string
  readonly version: string
}

/** Undefined for a folder without a manifest that names it. */
function readNamed(folder: string): Named | undefined {
  const read = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Partial<Named>
  const { name, version } = read
  return name === undefined || version === undefined ? undefined : { ...read, name, version }
}

function installedHere(): readonly string[] {
  const store = join(ROOT, 'node_modules', '.pnpm')
  return globSync(['*/node_modules/*/package.json', '*/node_modules/@*/*/package.json'], {
    cwd: store,
  }).map((path) => join(store, dirname(path)))
}

function documentOf(name: string, versions: ReadonlyMap<string, Offered>, url: string) {
  const all = [...versions].map(([version, { manifest }]) => [
    version,
    { ...manifest, dist: { tarball: `${url}/${encodeURIComponent(name)}/-/${version}.tgz` } },
  ])
  return {
    name,
    'dist-tags': { latest: [...versions.keys()].at(-1) },
    versions: Object.fromEntries(all),
  }
}

/** The store of pnpm may keep equal files once, which tar would write as links, and npm unpacks none. */
const WHOLE_FILES = process.platform === 'linux' ? ['--hard-dereference'] : []

/** npm takes off the first folder, whatever its name, and does not insist on compression. */
function sendFolder(folder: string, answer: ServerResponse): void {
  const args = [...WHOLE_FILES, '-cf', '-', '-C', dirname(folder), basename(folder)]
  const tar = spawn('tar', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  tar.stdout.pipe(answer)
  tar.once('error', () => answer.destroy())
}
