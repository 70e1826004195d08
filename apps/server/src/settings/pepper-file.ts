import type { KeyObject } from 'node:crypto'
import type { Config } from './config.ts'
import { readKeyLines } from './key-lines.ts'

/** Reads the peppers of `REMIT_CREDENTIAL_PEPPER_FILE`; the first is for new credentials. */
export const readPepperFile = ({
  REMIT_CREDENTIAL_PEPPER_FILE: path,
}: Config): readonly KeyObject[] | undefined =>
  path === undefined
    ? undefined
    : readKeyLines('REMIT_CREDENTIAL_PEPPER_FILE', path, {
        noun: 'pepper',
        leastBytes: 32,
      })
