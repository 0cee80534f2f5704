// Each built page says what a browser may do for it: run the scripts that were built into it, ask its own origin, and nothing else.
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g

export function addContentPolicies(folder: string): void {
  for (const path of globSync('**/*.html', { cwd: folder })) {
    const file = join(folder, path)
    const text = readFileSync(file, 'utf8')
    const meta = `<meta http-equiv="content-security-policy" content="${policyOf(text)}">`
    writeFileSync(
      file,
      text.replace(/<head>/, () => `<head>${meta}`),
    )
  }
}

/** The search index is WebAssembly; colours of code stand in attributes. */
export function policyOf(page: string): string {
  const hashes = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script]) =>
      `'sha256-${createHash('sha256')
        .update(script ?? '')
        .digest('base64')}'`,
  )
  return [
    `default-src 'none'`,
    `script-src ${["'self'", "'wasm-unsafe-eval'", ...new Set(hashes)].join(' ')}`,
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data:`,
    `font-src 'self'`,
    `connect-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ')
}
