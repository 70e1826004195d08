import type { CreateMeter } from './meter.ts'

/** Every meter, in the order of their metrics. A new one is registered here and nowhere else. */
export const METERS: readonly CreateMeter[] = []
