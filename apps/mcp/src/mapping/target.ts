interface Target {
  readonly action?: unknown
  readonly resource?: unknown
  readonly authzen?: unknown
}

/** True where the configuration maps action or resource itself, so that no declared mapping counts. */
export const mapsTarget = ({ action, resource, authzen }: Target): boolean =>
  action !== undefined || resource !== undefined || authzen !== undefined
