import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { bootImage, missingTools } from './boot-image.ts'
import { makeImage } from './make-image.ts'
import type { MadeImage } from './make-image.ts'

/** Programs that would help an attacker in the container, and packages of the development. */
const UNWANTED =
  /^(usr\/)?s?bin\/(?!node$)|(^|\/)node_modules\/(vitest|typescript|rolldown|vite|oxlint)$/

export interface ImageCheck {
  readonly edition: 'community' | 'enterprise'
  /** Another built workspace of the same sources, whose image must have the same digest. */
  readonly copy?: string
  /** Further checks of the files of the image. */
  readonly inspect?: (root: string) => Promise<void>
}

/**
 * Makes the image of a built workspace and starts it. Throws if that of a copy differs, if it contains
 * what it must not, or if the server does not work with a read-only root as another user.
 */
export async function checkImage(
  workspace: string,
  out: string,
  { edition, copy, inspect }: ImageCheck,
): Promise<MadeImage> {
  const image = await makeImage(workspace, join(out, 'first'))
  if (copy !== undefined) {
    const again = await makeImage(copy, join(out, 'second'))
    if (image.digest !== again.digest)
      throw new Error(`two images of the same sources differ: ${image.digest}, ${again.digest}`)
  }
  const missing = missingTools()
  if (missing.length > 0) {
    console.log(`skipped: the image is not started without ${missing.join(' and ')}`)
    return image
  }
  const settings = edition === 'community' ? {} : { REMIT_EVALUATION: '1' }
  const report = await bootImage(join(out, 'first'), image, settings, async (root) => {
    const names = await readdir(root, { recursive: true })
    const unwanted = names.filter((name) => UNWANTED.test(name))
    if (unwanted.length > 0) throw new Error(`unwanted in the image:\n  ${unwanted.join('\n  ')}`)
    await inspect?.(root)
  })
  const expected = { uid: 65_532, ready: 200, console: 200, write: 'EROFS', exitCode: 0 }
  const wrong = Object.entries(expected).filter(
    ([name, value]) => report[name as keyof typeof expected] !== value,
  )
  if (wrong.length > 0 || report.health.edition !== edition)
    throw new Error(`the image does not work: ${JSON.stringify(report)}`)
  return image
}
