// Runs the single-file verifiers on many changed copies of a bundle in one process each, as their own entry points would.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BundleFinding } from '@baton/ledger'

/** As either of them writes it. */
export type Finding = Pick<BundleFinding, 'rule'> &
  Partial<BundleFinding> & { readonly place?: string | null }

export interface Report {
  readonly verdict: string
  readonly checks?: readonly { readonly findings: readonly Finding[] }[]
  readonly findings?: readonly Finding[]
}

/** A position in the bundle and what its byte is exclusive-ored with. */
export type Flip = readonly [at: number, value: number]

export interface Turned {
  readonly at: number
  readonly code: number
  readonly report: Report
}

// The files are themselves but for one line: what starts them is exported, or what costs most is done once.
const DRIVERS: Readonly<Record<string, string>> = {
  'baton-verify.mjs': `
    const { readFileSync, writeFileSync } = await import('node:fs')
    const [source, start] = [readFileSync('baton-verify.mjs', 'utf8'), 'process.exitCode = main();']
    if (source.split(start).length !== 2) throw new Error('the verifier starts in another way')
    writeFileSync('driven.mjs', source.replace(start, 'export { main };'))
    const { main } = await import(process.cwd() + '/driven.mjs')
    const bytes = readFileSync('task.tar')
    const reports = []
    process.argv = [process.argv[0], 'x', 'flipped.tar', '--policy', 'auditor.policy', '--json']
    const write = process.stdout.write.bind(process.stdout)
    for (const [at, value] of JSON.parse(readFileSync('flips.json', 'utf8'))) {
      const copy = Buffer.from(bytes)
      copy[at] ^= value
      writeFileSync('flipped.tar', copy)
      let text = ''
      process.stdout.write = (part) => ((text += part), true)
      const code = main()
      reports.push({ at, code, report: JSON.parse(text) })
    }
    write(JSON.stringify(reports))`,
  'baton_verify.py': `
import contextlib, functools, io, json, sys
sys.path.insert(0, '.')
import baton_verify
baton_verify.ed25519_verify = functools.lru_cache(None)(baton_verify.ed25519_verify)
data = open('task.tar', 'rb').read()
sys.argv = ['baton_verify.py', 'flipped.tar', '--policy', 'auditor.policy', '--json']
reports = []
for at, value in json.load(open('flips.json')):
    copy = bytearray(data)
    copy[at] ^= value
    open('flipped.tar', 'wb').write(copy)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        code = baton_verify.main()
    reports.append({'at': at, 'code': code, 'report': json.loads(text.getvalue())})
print(json.dumps(reports))`,
}

interface Drive {
  /** Holds the verifier, `task.tar` and `auditor.policy`; nothing else is found from there. */
  readonly folder: string
  readonly command: string
  readonly script: string
}

/** What the verifier says of each copy, in the order of the flips. */
export async function verifyEach(
  { folder, command, script }: Drive,
  flips: readonly Flip[],
): Promise<readonly Turned[]> {
  const driver = `drive-${script}`
  await writeFile(join(folder, driver), DRIVERS[script] as string)
  await writeFile(join(folder, 'flips.json'), JSON.stringify(flips))
  const options = { cwd: folder, env: {}, maxBuffer: 256 * 1024 * 1024 }
  return new Promise((resolve, reject) => {
    execFile(command, [driver], options, (error, output, words) => {
      if (error !== null) reject(new Error(words))
      else resolve(JSON.parse(output) as readonly Turned[])
    })
  })
}
