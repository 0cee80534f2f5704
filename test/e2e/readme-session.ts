// What the README shows, made comparable with what a command prints.
import { readFile } from 'node:fs/promises'

/** The lines that the README shows as output of `trace` and `verify`. */
export async function readmeSession(): Promise<readonly string[]> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  const [, session = ''] = /```\n(\$ npm run baton -- trace [\s\S]*?)\n```/.exec(readme) ?? []
  return session.split('\n').filter((line) => line !== '' && !line.startsWith('$'))
}

// Ids, times, amounts and how far the archiver has come differ from run to run, and with them the width of their columns.
export const withoutFigures = (line: string): string =>
  line
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f-]+)?|[\d,.]*\d/g, '#')
    .replaceAll(/\b(?:archived|witnessed|sealed)\b/g, 'kept')
    .replaceAll(/ +/g, ' ')
    .trim()
