// Shows the built manual on this machine, until it is interrupted.
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/** Listens on loopback only; port 0 takes any that is free. */
export async function serveSite(folder: string, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    const file = fileFor(folder, request.url ?? '/')
    if (file === undefined) {
      response.writeHead(404, { 'content-type': TYPES['.html'] })
      createReadStream(join(folder, '404.html')).pipe(response)
      return
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    })
    createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return server
}

/** Undefined where there is nothing, or where the path leads out of the folder. */
function fileFor(folder: string, url: string): string | undefined {
  const { pathname } = new URL(url, 'http://127.0.0.1')
  let path = ''
  try {
    path = normalize(decodeURIComponent(pathname))
  } catch {
    return undefined
  }
  const file = join(folder, path.endsWith(sep) ? join(path, 'index.html') : path)
  if (!file.startsWith(folder) || !existsSync(file) || !statSync(file).isFile()) return undefined
  return file
}
