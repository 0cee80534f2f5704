// What a shell reads is what was meant, whatever characters a path has.
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { quoted } from './next-steps.ts'

it.each(['plain/path', 'a b', `it's`, '$HOME', '`id`', 'ü;&|', ''])(
  'a shell reads %j as it was',
  (text) => {
    const said = execFileSync('sh', ['-c', `printf %s ${quoted(text)}`], { encoding: 'utf8' })
    expect(said).toBe(text)
  },
)
