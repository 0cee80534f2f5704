// Writes the single-file verifier and the page of a bundle from their sources; --check only compares.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const read = (path: string): string => readFileSync(here(path), 'utf8')

const PORTABLE: Readonly<Record<string, string>> = {
  'sha256.ts': here('verifier/portable-sha256.ts'),
  'ed25519.ts': here('verifier/portable-ed25519.ts'),
}

/** In a browser the two files that use node:crypto make way for plain arithmetic. */
const portable = {
  name: 'portable',
  resolveId(source: string): string | null {
    const name = source.split('/').at(-1) ?? ''
    return source.startsWith('.') && !source.includes('portable') ? (PORTABLE[name] ?? null) : null
  },
}

async function bundleOf(input: string, isPage: boolean): Promise<string> {
  const build = await rolldown({
    input: here(input),
    platform: isPage ? 'browser' : 'node',
    plugins: isPage ? [portable] : [],
    tsconfig: false,
    treeshake: { moduleSideEffects: false },
  })
  const { output } = await build.generate({
    format: isPage ? 'iife' : 'esm',
    minify: false,
    comments: false,
  })
  await build.close()
  if (output.length !== 1) throw new Error(`${input} does not make one file`)
  return output[0].code
}

/** The text inside an element, whose hash the content security policy names. */
function hashInside(html: string, tag: string): string {
  const from = html.indexOf(`<${tag}>`) + tag.length + 2
  const text = html.slice(from, html.indexOf(`</${tag}>`, from))
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

async function page(): Promise<string> {
  const script = await bundleOf('verifier/page.ts', true)
  if (script.includes('</script')) throw new Error('the script would end itself')
  const html = read('verifier/page.html')
    .replace('%STYLE%', () => read('verifier/page.css'))
    .replace('%SCRIPT%', () => script)
  return html
    .replace('%SCRIPT_HASH%', () => hashInside(html, 'script'))
    .replace('%STYLE_HASH%', () => hashInside(html, 'style'))
}

const HEADER = `#!/usr/bin/env node\n// Verifies a baton-evidence/1 to 4 bundle offline on Node 20.12 or later; generated, do not edit.\n`
const files: Record<string, string> = {
  'baton-verify.mjs': HEADER + (await bundleOf('verifier/baton-verify.ts', false)),
  'page.html': await page(),
}
files['SHA256SUMS'] = Object.entries({
  ...files,
  '../baton_verify.py': read('verifier/baton_verify.py'),
})
  .map(([name, text]) => `${createHash('sha256').update(text).digest('hex')}  ${name}\n`)
  .join('')

mkdirSync(here('verifier/generated'), { recursive: true })
for (const [name, text] of Object.entries(files)) {
  const path = here(`verifier/generated/${name}`)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    process.stderr.write(
      `${path} is not what its sources make: node packages/ledger/generate-verifier.ts\n`,
    )
    process.exitCode = 1
  }
}
