package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Migrations are the steps of the schema.
var Migrations = migrations

// Identify is how opening determines which history there is, and whether to try again.
func Identify(ctx context.Context, tx pgx.Tx) (again bool, err error) {
	_, err = readVersions(ctx, tx)
	return err != nil && passing(err), err
}
