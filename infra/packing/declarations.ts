// Declarations of every source file of the given packages, in the folders that the sources have in the checkout.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './workspace.ts'

const run = promisify(execFile)

/** The compiler that this checkout is checked with. */
export const COMPILER = join(
  dirname(createRequire(join(ROOT, 'package.json')).resolve('typescript/package.json')),
  'bin',
  'tsc',
)

/** The gate has checked the types; here they are only written down. */
export async function emitDeclarations(folders: readonly string[], outDir: string): Promise<void> {
  if (folders.length === 0) return
  await mkdir(outDir, { recursive: true })
  const include = folders.map((folder) => {
    const source = join(folder, 'src')
    return existsSync(source) ? source : folder
  })
  const config = join(outDir, 'tsconfig.json')
  const settings = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      noCheck: true,
      rootDir: ROOT,
      outDir,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include,
    exclude: ['**/*.test.ts', '**/node_modules'].flatMap((pattern) =>
      include.map((folder) => join(folder, pattern)),
    ),
  }
  await writeFile(config, JSON.stringify(settings))
  await run(process.execPath, [COMPILER, '-p', config])
}
